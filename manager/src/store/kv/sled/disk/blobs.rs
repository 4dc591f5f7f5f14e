//! The files that sled keeps large values in, beside its log, and never syncs: made durable once they are written.
//!
//! There may be very many of them, so a commit must not look at all: Linux reports which were written to and closed.
//! sled writes a blob once, and closes it before its log names it. So every blob that the log names was noticed here.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};

#[derive(Debug)]
pub struct Blobs {
    folder: PathBuf,
    /// None where Linux grants no further one: then all are synced each time.
    watch: Option<Inotify>,
    /// Nothing is known of what is there: of another process, or more than Linux reports.
    unknown: bool,
}

impl Blobs {
    pub fn new(store: &Path) -> Self {
        let folder = store.join("blobs");
        let watch = watched(&folder).inspect_err(|error| {
            tracing::warn!(
                %error,
                "Linux does not watch {} ({error}): commits take longer; raise fs.inotify.max_user_instances",
                folder.display()
            );
        });
        Self {
            folder,
            watch: watch.ok(),
            unknown: true,
        }
    }

    /// Makes those durable that were written since the last call.
    pub fn sync(&mut self) -> io::Result<()> {
        let written = self.written()?;
        if written.is_empty() {
            return Ok(());
        }
        for name in written {
            // sled deletes those that nothing refers to any more, at any time.
            match File::open(self.folder.join(name)).and_then(|file| file.sync_all()) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        File::open(&self.folder)?.sync_all()
    }

    fn written(&mut self) -> io::Result<HashSet<OsString>> {
        let noticed = self.noticed()?;
        match std::mem::take(&mut self.unknown) || self.watch.is_none() {
            true => self.all(),
            false => Ok(noticed),
        }
    }

    /// The files that Linux reported as written since the last call.
    fn noticed(&mut self) -> io::Result<HashSet<OsString>> {
        let mut noticed = HashSet::new();
        let Some(watch) = &self.watch else {
            return Ok(noticed);
        };
        loop {
            match watch.read_events() {
                Ok(events) => {
                    let lost = |mask: AddWatchFlags| mask.contains(AddWatchFlags::IN_Q_OVERFLOW);
                    self.unknown |= events.iter().any(|event| lost(event.mask));
                    noticed.extend(events.into_iter().filter_map(|event| event.name));
                }
                Err(Errno::EAGAIN) => return Ok(noticed),
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn all(&self) -> io::Result<HashSet<OsString>> {
        let entries = std::fs::read_dir(&self.folder)?;
        entries.map(|entry| Ok(entry?.file_name())).collect()
    }
}

fn watched(folder: &Path) -> nix::Result<Inotify> {
    let watch = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC)?;
    watch.add_watch(folder, AddWatchFlags::IN_CLOSE_WRITE)?;
    Ok(watch)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn names(names: &[&str]) -> HashSet<OsString> {
        names.iter().map(OsString::from).collect()
    }

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("blobs")).unwrap();
        folder
    }

    #[test]
    fn what_sled_keeps_beside_its_log_is_known_once_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let db = sled::open(folder.path()).unwrap();
        let mut blobs = Blobs::new(folder.path());
        assert_eq!(blobs.written().unwrap(), HashSet::new());
        for n in 0..50u8 {
            db.insert([n], vec![n; 64 * 1024]).unwrap();
        }
        db.flush().unwrap();
        let all = blobs.all().unwrap();
        assert!(!all.is_empty(), "sled has put all into its log");
        let written = blobs.written().unwrap();
        assert!(all.is_subset(&written), "{all:?}, {written:?}");
        blobs.sync().unwrap();
        assert_eq!(blobs.written().unwrap(), HashSet::new());
    }

    #[test]
    fn a_blob_that_grew_after_it_was_synced_is_synced_again_and_no_other() {
        let folder = folder();
        let mut blobs = Blobs::new(folder.path());
        blobs.sync().unwrap();
        let mut growing = File::create(folder.path().join("blobs/1")).unwrap();
        growing.write_all(b"a part").unwrap();
        std::fs::write(folder.path().join("blobs/2"), "whole").unwrap();
        assert_eq!(blobs.written().unwrap(), names(&["2"]));
        growing.write_all(b" and the rest").unwrap();
        drop(growing);
        assert_eq!(blobs.written().unwrap(), names(&["1"]));
    }

    #[test]
    fn all_are_synced_that_were_there_before_or_that_nobody_tells_of() {
        let folder = folder();
        std::fs::write(folder.path().join("blobs/1"), "of another process").unwrap();
        let mut blobs = Blobs::new(folder.path());
        assert_eq!(blobs.written().unwrap(), names(&["1"]));
        assert_eq!(blobs.written().unwrap(), HashSet::new());
        blobs.watch = None;
        assert_eq!(blobs.written().unwrap(), names(&["1"]));
    }

    #[test]
    fn one_that_sled_has_deleted_meanwhile_is_no_failure() {
        let folder = folder();
        let mut blobs = Blobs::new(folder.path());
        blobs.sync().unwrap();
        let blob = folder.path().join("blobs/1");
        std::fs::write(&blob, "short-lived").unwrap();
        std::fs::remove_file(&blob).unwrap();
        blobs.sync().unwrap();
    }
}
