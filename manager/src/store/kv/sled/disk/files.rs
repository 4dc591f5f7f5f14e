//! The files of a store, made durable.
//!
//! sled writes its log with `sync_file_range`, which survives the death of the process but not a loss of power: so the
//! file itself is synced too, and the files beside it ([`super::blobs`]).

use std::fs::File;

use super::Disk;
use super::blobs::Blobs;
use crate::store::kv::KvError;
use crate::store::kv::sled::tip::Tip;
use crate::store::kv::sled::{acknowledged, failed};

/// sled's own log.
pub const LOG: &str = "db";

#[derive(Debug)]
pub struct Files {
    pub disk: Disk,
    log: File,
    acknowledged: File,
    blobs: Blobs,
}

impl Files {
    pub fn open(disk: Disk) -> Result<Self, KvError> {
        let unopened = |error| failed("opened", &error);
        let log = File::open(disk.folder.join(LOG)).map_err(unopened)?;
        let mut options = File::options();
        let acknowledged = options.write(true);
        let acknowledged = acknowledged.open(disk.folder.join(acknowledged::NAME));
        Ok(Self {
            log,
            acknowledged: acknowledged.map_err(unopened)?,
            blobs: Blobs::new(&disk.folder),
            disk,
        })
    }

    /// Makes all that was applied survive a loss of power, then acknowledges it.
    pub fn sync(&mut self, db: &sled::Db, tip: Tip) -> Result<(), KvError> {
        db.flush().map_err(|error| failed("written", &error))?;
        let synced = self.log.sync_data().and_then(|()| self.blobs.sync());
        let written = synced.and_then(|()| acknowledged::write(&self.acknowledged, tip));
        written.map_err(|error| failed("written", &error))
    }
}
