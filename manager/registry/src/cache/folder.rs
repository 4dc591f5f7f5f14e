//! Files in a folder of limited size. The least recently used files are removed first.
//!
//! A file may be missing or damaged at any time, also because another manager uses the same folder. A file appears whole: it
//! is written under another name, and then renamed. Its modification time is the time of its last use, so the next process
//! knows the order.

use std::fs::{DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use uuid::Uuid;

use super::lru::Lru;

/// Larger than every file.
const FILE_BYTES: u64 = 64 * 1024 * 1024;
const UNFINISHED: &str = ".part";

/// Calls block.
#[derive(Debug)]
pub struct BoundedFolder {
    root: PathBuf,
    limit: u64,
    /// The files by path, read once before the first write.
    known: Mutex<Option<Lru<PathBuf, ()>>>,
}

impl BoundedFolder {
    pub fn new(root: PathBuf, limit: u64) -> Self {
        Self {
            root,
            limit,
            known: Mutex::default(),
        }
    }

    /// `None` if the file does not exist or cannot be read.
    pub fn read(&self, name: &Path) -> Option<Vec<u8>> {
        let file = File::open(self.root.join(name)).ok()?;
        let mut bytes = Vec::new();
        (&file).take(FILE_BYTES).read_to_end(&mut bytes).ok()?;
        // A failure only affects the order of removal.
        let _ = file.set_modified(SystemTime::now());
        self.touch(name);
        Some(bytes)
    }

    /// Counts as a use.
    pub fn touch(&self, name: &Path) {
        if let Some(known) = &mut *self.known() {
            known.get(&name.to_owned());
        }
    }

    pub fn write(&self, name: &Path, bytes: &[u8]) -> io::Result<()> {
        let place = self.root.join(name);
        if let Some(folder) = place.parent() {
            // Files of private registries are readable for the manager's user only.
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)?;
        }
        let unfinished = place.with_extension(format!("{}{UNFINISHED}", Uuid::new_v4()));
        let written = File::create_new(&unfinished)
            .and_then(|mut file| file.write_all(bytes))
            .and_then(|()| std::fs::rename(&unfinished, &place));
        if written.is_err() {
            let _ = std::fs::remove_file(&unfinished);
        }
        written?;
        self.count(name, bytes.len());
        Ok(())
    }

    pub fn remove(&self, name: &Path) {
        // The file may be removed already.
        let _ = std::fs::remove_file(self.root.join(name));
        if let Some(known) = &mut *self.known() {
            known.remove(&name.to_owned());
        }
    }

    fn count(&self, name: &Path, bytes: usize) {
        let mut known = self.known();
        let known = known.get_or_insert_with(|| self.survey());
        let size = u64::try_from(bytes).unwrap_or(u64::MAX);
        for gone in known.put(name.to_owned(), (), size) {
            let _ = std::fs::remove_file(self.root.join(gone));
        }
    }

    /// The files of earlier processes, in the order of their last use.
    fn survey(&self) -> Lru<PathBuf, ()> {
        let mut found = Vec::new();
        collect(&self.root, &mut found);
        found.sort_unstable();
        let mut known = Lru::new(self.limit);
        for (_, path, size) in found {
            let Ok(name) = path.strip_prefix(&self.root) else {
                continue;
            };
            for gone in known.put(name.to_owned(), (), size) {
                let _ = std::fs::remove_file(self.root.join(gone));
            }
        }
        known
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Option<Lru<PathBuf, ()>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn collect(folder: &Path, found: &mut Vec<(SystemTime, PathBuf, u64)>) {
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let (path, Ok(metadata)) = (entry.path(), entry.metadata()) else {
            continue;
        };
        if metadata.is_dir() {
            collect(&path, found);
        } else if path.to_string_lossy().ends_with(UNFINISHED) {
            // Another process may be writing it. Its write then fails, and it continues without the cache.
            let _ = std::fs::remove_file(path);
        } else {
            let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            found.push((used, path, metadata.len()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_longest_ago_is_removed_also_of_an_earlier_process() {
        let folder = tempfile::tempdir().unwrap();
        let open = || BoundedFolder::new(folder.path().join("cache"), 10);
        let first = open();
        for name in ["a/1", "a/2", "b/3"] {
            first.write(Path::new(name), b"123").unwrap();
        }
        let long_ago = File::open(folder.path().join("cache/a/2")).unwrap();
        long_ago.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let second = open();
        second.write(Path::new("c/4"), b"4444").unwrap();
        assert_eq!(second.read(Path::new("a/2")), None);
        assert_eq!(second.read(Path::new("a/1")).as_deref(), Some(&b"123"[..]));
        second.write(Path::new("d/5"), b"55555").unwrap();
        assert_eq!(second.read(Path::new("b/3")), None);
        assert_eq!(second.read(Path::new("c/4")), None);
        assert!(second.read(Path::new("a/1")).is_some());
    }

    #[test]
    fn a_write_that_was_cut_off_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let left = folder.path().join("a.1.part");
        std::fs::write(&left, "half").unwrap();
        let bounded = BoundedFolder::new(folder.path().to_owned(), 100);
        bounded.write(Path::new("b"), b"whole").unwrap();
        assert!(!left.exists());
    }
}
