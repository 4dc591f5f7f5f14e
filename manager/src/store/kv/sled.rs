//! The store on disk, in sled. The only file that knows sled.
//!
//! sled writes its log with `sync_file_range`, which survives the death of the process but not a loss of power: so
//! each commit also syncs the file itself, and the files beside it that sled keeps large values in and never syncs.
//! Commits that arrive together share the work: sled flushes all that is buffered, and the second flush finds nothing
//! left to do.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use sled::transaction::{ConflictableTransactionError, TransactionError, TransactionalTree};

use super::{Commit, Key, Kv, KvError, Order, Scan, range};

/// What sled keeps of the file in memory. The default, 1 GiB, is more than all of a manager should take.
const CACHE_BYTES: u64 = 128 * 1024 * 1024;

#[derive(Debug, Clone)]
pub struct SledKv {
    db: sled::Db,
    /// sled's own log file, to sync it.
    log: Arc<File>,
    blobs: Arc<Blobs>,
}

/// The files of values that are too large for sled's log. They are written once, before the log tells of them.
#[derive(Debug)]
struct Blobs {
    folder: PathBuf,
    /// The sizes of those that are synced: one that has grown since was not whole then.
    synced: Mutex<HashMap<OsString, u64>>,
}

impl Blobs {
    /// Makes all that are there survive a loss of power.
    fn sync(&self) -> io::Result<()> {
        // Only what is synced gets into the map, whatever fails.
        let mut synced = self.synced.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = self.sizes()?;
        synced.retain(|name, size| found.get(name) == Some(size));
        found.retain(|name, _| !synced.contains_key(name));
        if found.is_empty() {
            return Ok(());
        }
        for name in found.keys() {
            let file = File::open(self.folder.join(name));
            unless_gone(file.and_then(|file| file.sync_all()))?;
        }
        File::open(&self.folder)?.sync_all()?;
        synced.extend(found);
        Ok(())
    }

    fn sizes(&self) -> io::Result<HashMap<OsString, u64>> {
        let mut found = HashMap::new();
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            if let Some(metadata) = unless_gone(entry.metadata())? {
                found.insert(entry.file_name(), metadata.len());
            }
        }
        Ok(found)
    }
}

/// sled deletes blobs that nothing refers to any more, at any time.
fn unless_gone<T>(outcome: io::Result<T>) -> io::Result<Option<T>> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        outcome => outcome.map(Some),
    }
}

impl SledKv {
    /// Opens the store in a folder, or makes a new one there. One process at a time: the file is locked.
    pub fn open(path: &Path) -> Result<Self, KvError> {
        let opened = sled::Config::new()
            .path(path)
            .cache_capacity(CACHE_BYTES)
            .open();
        let db = opened.map_err(|error| not_opened(path, &error))?;
        let log = File::open(path.join("db")).map_err(|error| failed("opened", &error))?;
        let blobs = Blobs {
            folder: path.join("blobs"),
            synced: Mutex::default(),
        };
        Ok(Self {
            db,
            log: Arc::new(log),
            blobs: Arc::new(blobs),
        })
    }

    /// sled waits for the disk, so its calls keep off the threads that serve.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(Self) -> Result<T, KvError> + Send + 'static,
    ) -> Result<T, KvError> {
        let this = self.clone();
        let done = tokio::task::spawn_blocking(move || work(this)).await;
        done.map_err(|error| failed("used", &error))?
    }

    fn read(&self, scan: &Scan) -> Result<Vec<(Key, Bytes)>, KvError> {
        let Some(range) = range(scan) else {
            return Ok(Vec::new());
        };
        let found = self.db.range(range);
        let entries: Result<Vec<_>, _> = match scan.order {
            Order::Ascending => found.take(scan.limit).collect(),
            Order::Descending => found.rev().take(scan.limit).collect(),
        };
        let entries = entries.map_err(|error| failed("read", &error))?;
        Ok(entries
            .into_iter()
            .map(|(key, value)| (key.to_vec(), Bytes::copy_from_slice(&value)))
            .collect())
    }

    fn write(&self, commit: &Commit) -> Result<(), KvError> {
        let done = self.db.transaction(|tree| apply(tree, commit));
        done.map_err(|error| match error {
            TransactionError::Abort(()) => KvError::Conflict,
            TransactionError::Storage(error) => failed("written", &error),
        })?;
        self.db.flush().map_err(|error| failed("written", &error))?;
        let synced = self.log.sync_data().and_then(|()| self.blobs.sync());
        synced.map_err(|error| failed("written", &error))
    }
}

fn apply(
    tree: &TransactionalTree,
    commit: &Commit,
) -> Result<(), ConflictableTransactionError<()>> {
    for (key, expected) in &commit.expect {
        if tree.get(key)?.as_deref() != expected.as_deref() {
            return Err(ConflictableTransactionError::Abort(()));
        }
    }
    for (key, value) in &commit.put {
        tree.insert(key.as_slice(), value.as_ref())?;
    }
    for key in &commit.delete {
        tree.remove(key.as_slice())?;
    }
    Ok(())
}

#[async_trait]
impl Kv for SledKv {
    async fn get(&self, key: &[u8]) -> Result<Option<Bytes>, KvError> {
        let key = key.to_vec();
        let value = self
            .blocking(move |this| this.db.get(key).map_err(|error| failed("read", &error)))
            .await?;
        Ok(value.map(|value| Bytes::copy_from_slice(&value)))
    }

    async fn scan(&self, scan: Scan) -> Result<Vec<(Key, Bytes)>, KvError> {
        self.blocking(move |this| this.read(&scan)).await
    }

    async fn commit(&self, commit: Commit) -> Result<(), KvError> {
        self.blocking(move |this| this.write(&commit)).await
    }
}

fn failed(action: &'static str, error: &dyn std::fmt::Display) -> KvError {
    KvError::Failed {
        action,
        reason: error.to_string(),
    }
}

/// sled tells a lock that is held only in the text of its error.
fn not_opened(path: &Path, error: &sled::Error) -> KvError {
    match error {
        sled::Error::Io(io) if io.to_string().contains("could not acquire lock") => {
            KvError::InUse {
                path: path.display().to_string(),
            }
        }
        _ => KvError::Failed {
            action: "opened",
            reason: format!("{}: {error}", path.display()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::copied;

    #[tokio::test]
    async fn a_second_manager_on_the_same_store_is_told_so() {
        let folder = tempfile::tempdir().unwrap();
        let _first = SledKv::open(folder.path()).unwrap();
        let error = SledKv::open(folder.path()).unwrap_err();
        assert!(matches!(&error, KvError::InUse { .. }), "{error}");
    }

    #[tokio::test]
    async fn a_path_that_is_no_folder_is_refused_by_name() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = SledKv::open(file.path()).unwrap_err().to_string();
        assert!(error.contains(&*file.path().to_string_lossy()), "{error}");
    }

    #[tokio::test]
    async fn what_sled_keeps_beside_its_log_is_synced_too() {
        let folder = tempfile::tempdir().unwrap();
        let kv = SledKv::open(folder.path()).unwrap();
        let large = Bytes::from(vec![7u8; 64 * 1024]);
        let put = (0..50u8).map(|n| (vec![n], large.clone())).collect();
        kv.commit(Commit {
            put,
            ..Commit::default()
        })
        .await
        .unwrap();
        let synced = kv.blobs.synced.lock().unwrap().clone();
        assert!(!synced.is_empty(), "sled has put all into its log");
        let sizes = kv.blobs.sizes().unwrap();
        assert!(
            sizes
                .iter()
                .all(|(name, size)| synced.get(name) == Some(size))
        );
    }

    /// The folder is copied while the store is open, as a crash would leave it: nothing was closed in order.
    #[tokio::test]
    async fn what_is_committed_is_there_after_a_crash() {
        let folder = tempfile::tempdir().unwrap();
        let kv = SledKv::open(folder.path()).unwrap();
        let large = Bytes::from(vec![7u8; 64 * 1024]);
        for n in 0..50u8 {
            let put = vec![
                (vec![n], large.clone()),
                (vec![n, n], Bytes::from_static(b"small")),
            ];
            kv.commit(Commit {
                put,
                ..Commit::default()
            })
            .await
            .unwrap();
        }
        let crashed = tempfile::tempdir().unwrap();
        copied(folder.path(), crashed.path());
        let recovered = SledKv::open(crashed.path()).unwrap();
        let all = recovered
            .scan(Scan {
                limit: 1000,
                ..Scan::default()
            })
            .await
            .unwrap();
        assert_eq!(all.len(), 100);
        assert!(
            all.iter()
                .filter(|(key, _)| key.len() == 1)
                .all(|(_, value)| *value == large)
        );
    }
}
