//! The files of a store: made durable, compared with what was acknowledged, and kept from filling the disk.
//!
//! sled writes its log with `sync_file_range`, which survives the death of the process but not a loss of power: so the
//! file itself is synced too, and the files beside it ([`super::blobs`]).

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;

use super::super::KvError;
use super::blobs::Blobs;
use super::failed;

/// sled's own log.
pub const LOG: &str = "db";
/// The number of the last commit that was acknowledged, in digits.
const ACKNOWLEDGED: &str = "acknowledged";
/// So much of the disk is left alone: sled does not survive a write that fails, and needs room to clean up.
pub const KEPT_FREE: u64 = 32 * 1024 * 1024;
/// sled may write pages several times the size of what changes in them.
const AMPLIFICATION: u64 = 4;
const MIB: u64 = 1024 * 1024;

#[derive(Debug)]
pub struct Files {
    folder: PathBuf,
    kept_free: u64,
    log: File,
    acknowledged: File,
    blobs: Blobs,
}

/// The number of the last commit that was acknowledged, as far as it is known: the file is not synced, so that after a
/// loss of power it may be old, empty or absent.
pub fn acknowledged(folder: &Path) -> u64 {
    let digits = std::fs::read_to_string(folder.join(ACKNOWLEDGED)).unwrap_or_default();
    digits.trim().parse().unwrap_or(0)
}

impl Files {
    pub fn open(folder: &Path, kept_free: u64) -> Result<Self, KvError> {
        let mut options = File::options();
        let options = options.create(true).truncate(false).write(true);
        let acknowledged = options.open(folder.join(ACKNOWLEDGED));
        Ok(Self {
            folder: folder.to_owned(),
            kept_free,
            log: File::open(folder.join(LOG)).map_err(|error| failed("opened", &error))?,
            acknowledged: acknowledged.map_err(|error| failed("opened", &error))?,
            blobs: Blobs::of(folder),
        })
    }

    /// Whether so many bytes may be written.
    pub fn room(&self, bytes: usize) -> Result<(), KvError> {
        let disk = statvfs(&self.folder).map_err(|error| failed("written", &error))?;
        let free = disk.blocks_available().saturating_mul(disk.fragment_size());
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let kept = self
            .kept_free
            .saturating_add(bytes.saturating_mul(AMPLIFICATION));
        if free >= kept {
            return Ok(());
        }
        Err(KvError::Full {
            free_mib: free / MIB,
            kept_mib: kept.div_ceil(MIB),
        })
    }

    /// Makes all that was applied survive a loss of power, then acknowledges it.
    pub fn sync(&mut self, db: &sled::Db, commits: u64) -> Result<(), KvError> {
        db.flush().map_err(|error| failed("written", &error))?;
        let synced = self.log.sync_data().and_then(|()| self.blobs.sync());
        synced.map_err(|error| failed("written", &error))?;
        // As many digits as any number has, so that one write replaces all of the one before.
        let digits = format!("{commits:020}\n");
        let told = self.acknowledged.write_all_at(digits.as_bytes(), 0);
        told.map_err(|error| failed("written", &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_acknowledged_is_known_again_and_never_more() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(acknowledged(folder.path()), 0);
        let db = sled::open(folder.path()).unwrap();
        let mut files = Files::open(folder.path(), 0).unwrap();
        for number in [1, 2, 300, u64::MAX] {
            files.sync(&db, number).unwrap();
            assert_eq!(acknowledged(folder.path()), number);
        }
        std::fs::write(folder.path().join(ACKNOWLEDGED), "").unwrap();
        assert_eq!(acknowledged(folder.path()), 0);
    }
}
