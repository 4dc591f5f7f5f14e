//! The disk of a store, kept from filling up.

pub(super) mod blobs;
pub(super) mod files;
pub(super) mod private;

use std::path::PathBuf;

use nix::sys::statvfs::statvfs;

use super::super::KvError;
use super::failed;

/// So much of the disk is left alone: sled does not survive a write that fails, and needs room to clean up.
pub const KEPT_FREE: u64 = 32 * 1024 * 1024;
/// sled may write pages several times the size of what changes in them.
const AMPLIFICATION: u64 = 4;
const MIB: u64 = 1024 * 1024;

#[derive(Debug, Clone)]
pub struct Disk {
    pub folder: PathBuf,
    /// Bytes that nothing is written into.
    pub kept_free: u64,
}

impl Disk {
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
}
