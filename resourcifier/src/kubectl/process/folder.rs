//! The private folder of one process, for the socket and kubectl's cache.
//!
//! The folder is removed when its owner ends. A killed owner cannot remove it, so the next process does. A lock, which
//! the kernel releases with its holder, shows which folders are in use.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, Uid};
use tempfile::TempDir;

const PREFIX: &str = "resourcifier-";
/// A file in the folder, locked while the owner lives. It contains the process group that the owner started.
const LOCK: &str = "lock";
/// The path of the socket must fit into 107 bytes, with the name of the socket.
const LONGEST: usize = 90;

#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("a private folder cannot be made in {}: {source}", .parent.display())]
    Unmakable {
        parent: PathBuf,
        source: std::io::Error,
    },
    #[error("{} is too long a path for a socket; set TMPDIR to a shorter one", .0.display())]
    TooLong(PathBuf),
}

#[derive(Debug)]
pub struct Folder {
    folder: TempDir,
    lock: File,
}

impl Folder {
    /// Removes the folders of killed owners, then makes a new folder in `parent`.
    pub fn new(parent: &Path) -> Result<Self, FolderError> {
        sweep(parent);
        loop {
            let folder = Self::make(parent).map_err(|source| FolderError::Unmakable {
                parent: parent.to_owned(),
                source,
            })?;
            if folder.path().as_os_str().len() > LONGEST {
                return Err(FolderError::TooLong(folder.path().to_owned()));
            }
            // Before the lock, another process may have removed the new folder as an abandoned one.
            if folder.path().join(LOCK).exists() {
                return Ok(folder);
            }
        }
    }

    fn make(parent: &Path) -> std::io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(parent)?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(folder.path().join(LOCK))?;
        lock.lock()?;
        Ok(Self { folder, lock })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Records the process group to kill if its owner is killed.
    pub fn note(&self, group: Pid) -> std::io::Result<()> {
        let mut lock = &self.lock;
        lock.set_len(0)?;
        lock.rewind()?;
        writeln!(lock, "{group}")
    }
}

/// Removes the folders of ended owners, and kills their processes.
fn sweep(parent: &Path) {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    for path in ours.map(|entry| entry.path()).filter(|path| is_own(path)) {
        if let Some(lock) = abandoned(&path) {
            kill_group(lock, &path);
            match std::fs::remove_dir_all(&path) {
                Ok(()) => {
                    tracing::info!(folder = %path.display(), "removed the folder of a predecessor")
                }
                Err(error) => {
                    tracing::warn!(folder = %path.display(), %error, "the folder of a predecessor cannot be removed")
                }
            }
        }
    }
}

fn is_own(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::symlink_metadata(path)
        .is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == Uid::effective().as_raw())
}

/// The lock of a folder whose owner is gone, now held by this process.
fn abandoned(path: &Path) -> Option<File> {
    let lock = File::open(path.join(LOCK)).ok()?;
    lock.try_lock().ok()?;
    Some(lock)
}

/// The number may belong to another process now, so the command line of the process must contain the folder.
fn kill_group(mut lock: File, folder: &Path) {
    let mut text = String::new();
    let noted = lock.read_to_string(&mut text).ok();
    let Some(group) = noted.and_then(|_| text.trim().parse().ok()) else {
        return;
    };
    let command = std::fs::read(format!("/proc/{group}/cmdline")).unwrap_or_default();
    if String::from_utf8_lossy(&command).contains(&*folder.to_string_lossy()) {
        // An error means that it has just ended.
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    #[test]
    fn the_folder_is_private_and_goes_with_its_owner() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::new(parent.path()).unwrap();
        let path = folder.path().to_owned();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn what_a_killed_owner_left_is_removed_with_its_processes_and_what_is_in_use_stays() {
        let parent = tempfile::tempdir().unwrap();
        let in_use = Folder::new(parent.path()).unwrap();
        let left = parent.path().join("resourcifier-left");
        std::fs::create_dir(&left).unwrap();
        let mut child = Command::new("sh")
            .args(["-c", "echo up; sleep 60; :", &left.display().to_string()])
            .process_group(0)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // Before this, it may not have its own command line yet.
        child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut [0; 3])
            .unwrap();
        std::fs::write(left.join(LOCK), format!("{}\n", child.id())).unwrap();
        let _new = Folder::new(parent.path()).unwrap();
        assert!(!left.exists() && in_use.path().exists());
        assert!(!child.wait().unwrap().success());
    }

    #[test]
    fn a_path_that_no_socket_can_have_is_told_at_once() {
        let parent = tempfile::tempdir().unwrap();
        let long = parent.path().join("x".repeat(90));
        std::fs::create_dir(&long).unwrap();
        let error = Folder::new(&long).unwrap_err();
        assert!(error.to_string().contains("TMPDIR"), "{error}");
    }
}
