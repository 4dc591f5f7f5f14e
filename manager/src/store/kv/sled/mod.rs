//! The store on disk, in sled. The only folder that knows sled.
//!
//! Reads go to sled from any thread. All commits go through one thread ([`writer`]), which makes those that arrive
//! together durable together: the disk is waited for once, however many they are.
//!
//! sled takes damage in its log for a crash at that place, and goes on without what comes after: [`tip`] finds out.

mod acknowledged;
mod disk;
mod loss;
mod open;
mod probe;
mod readers;
mod snapshot;
#[cfg(test)]
mod tests;
mod tip;
mod writer;

use std::ops::RangeBounds;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, Weak};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use sled::IVec;

use self::disk::files::{Files, LOG};
use self::disk::{Disk, KEPT_FREE};
use self::readers::Readers;
use self::snapshot::Snapshot;
use self::writer::Writer;
use super::{Commit, Entry, Key, Kv, KvError, Order, Pace, Scan, range};

pub use self::probe::was_asked;

/// The store; clones are the same one.
#[derive(Debug, Clone)]
pub struct SledKv {
    data: Arc<Data>,
    writer: Arc<Writer>,
    readers: Arc<Readers>,
}

/// Room for as many entries is made before they are read: more than a page of a list has.
const PAGE: usize = 128;

/// What readers and the writer share.
#[derive(Debug)]
struct Data {
    path: PathBuf,
    db: sled::Db,
    /// Receives each change before it is made. Readers hold it shared, and a commit holds it exclusively, so a reader
    /// never sees a part of a commit.
    watchers: RwLock<Vec<Weak<dyn Watcher>>>,
}

/// Reads the store in parts while others commit.
trait Watcher: std::fmt::Debug + Send + Sync {
    fn changes(&self, key: &Key, before: Option<&Bytes>, after: Option<&Bytes>);
}

impl SledKv {
    /// Opens the store in a folder, or makes a new one there. One process at a time: the file is locked.
    ///
    /// `accept` is the token of a loss that the operator accepts (`--accept-loss`).
    pub fn open(path: &Path, accept: Option<&str>) -> Result<Self, KvError> {
        Self::open_keeping(path, accept, KEPT_FREE)
    }

    /// As [`Self::open`], with so many bytes of the disk kept free.
    fn open_keeping(path: &Path, accept: Option<&str>, kept_free: u64) -> Result<Self, KvError> {
        let (data, tip) = open::open(path, accept)?;
        let data = Arc::new(data);
        let files = Files::open(Disk {
            folder: path.to_owned(),
            kept_free,
        })?;
        let writer = Arc::new(Writer::start(data.clone(), files, tip)?);
        let readers = Readers::start().map_err(|error| failed("opened", &error))?;
        Ok(Self {
            data,
            writer,
            readers: Arc::new(readers),
        })
    }

    /// Lets a process of this program look at a store first, which may kill its reader.
    ///
    /// # Errors
    /// [`KvError::Damaged`] if it did.
    pub fn look(path: &Path) -> Result<(), KvError> {
        let program = std::env::current_exe().map_err(|error| failed("opened", &error))?;
        probe::look(path, &program)
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Data) -> Result<T, KvError> + Send + 'static,
    ) -> Result<T, KvError> {
        let data = self.data.clone();
        let done = self.readers.run(move || work(&data)).await;
        done.unwrap_or_else(|_| Err(self.data.given_up()))
    }
}

/// Of work that takes long, and should not hold up those who read a little.
async fn blocking<A: Send + 'static, T: Send + 'static>(
    data: &Data,
    of: A,
    work: impl FnOnce(A) -> Result<T, KvError> + Send + 'static,
) -> Result<T, KvError> {
    let done = tokio::task::spawn_blocking(move || work(of)).await;
    done.unwrap_or_else(|_| Err(data.given_up()))
}

impl Data {
    fn new(path: &Path, db: sled::Db) -> Self {
        Self {
            path: path.to_owned(),
            db,
            watchers: RwLock::default(),
        }
    }

    /// Between commits.
    fn whole(&self) -> RwLockReadGuard<'_, Vec<Weak<dyn Watcher>>> {
        self.watchers.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// For as long as somebody else keeps it.
    fn watch(&self, watcher: Weak<dyn Watcher>) {
        let watchers = self.watchers.write();
        let mut watchers = watchers.unwrap_or_else(PoisonError::into_inner);
        watchers.push(watcher);
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, KvError> {
        let value = self
            .db
            .get(key)
            .map_err(|error| self.failed("read", &error))?;
        Ok(value.map(|value| Bytes::copy_from_slice(&value)))
    }

    fn keys_below(&self, prefix: &Key) -> Result<Vec<Key>, KvError> {
        let found = self.db.scan_prefix(prefix).keys();
        found
            .map(|key| Ok(key.map_err(|error| self.failed("read", &error))?.to_vec()))
            .filter(|key| !matches!(key, Ok(key) if key == tip::KEY))
            .collect()
    }

    fn entries(
        &self,
        range: impl RangeBounds<Key>,
        order: Order,
        limit: usize,
        wanted: impl Fn(&[u8]) -> bool,
    ) -> Result<Vec<(Key, Bytes)>, KvError> {
        let found = self.db.range(range);
        let ordered: Box<dyn Iterator<Item = sled::Result<_>>> = match order {
            Order::Ascending => Box::new(found),
            Order::Descending => Box::new(found.rev()),
        };
        let wanted = |key: &[u8]| key != tip::KEY && wanted(key);
        let wanted = ordered.filter(|entry| !matches!(entry, Ok((key, _)) if !wanted(key)));
        let mut entries = Vec::with_capacity(limit.min(PAGE));
        for entry in wanted.take(limit) {
            let (key, value) = entry.map_err(|error| self.failed("read", &error))?;
            entries.push((key.to_vec(), value));
        }
        Ok(together(entries))
    }

    /// sled panics on some kinds of damage.
    fn given_up(&self) -> KvError {
        loss::damaged(&self.path, LOG, "sled gave up reading it")
    }

    fn failed(&self, action: &'static str, error: &sled::Error) -> KvError {
        match error {
            error if loss::is_damage(error) => {
                loss::damaged(&self.path, LOG, &format!("sled cannot read it ({error})"))
            }
            error => failed(action, error),
        }
    }
}

/// With all values in one piece of memory: a page of them is read, answered and forgotten as a whole.
fn together(entries: Vec<(Key, IVec)>) -> Vec<(Key, Bytes)> {
    let size = entries.iter().map(|(_, value)| value.len()).sum();
    let mut values = BytesMut::with_capacity(size);
    for (_, value) in &entries {
        values.extend_from_slice(value);
    }
    let mut values = values.freeze();
    let entry = |(key, value): (Key, IVec)| (key, values.split_to(value.len()));
    entries.into_iter().map(entry).collect()
}

#[async_trait]
impl Kv for SledKv {
    async fn get(&self, key: &[u8]) -> Result<Option<Entry>, KvError> {
        let key = key.to_vec();
        self.read(move |data| {
            let _whole = data.whole();
            Ok(data.get(&key)?.map(Entry::recognised_by_value))
        })
        .await
    }

    async fn get_each(&self, keys: Vec<Key>) -> Result<Vec<Option<Entry>>, KvError> {
        self.read(move |data| {
            let _whole = data.whole();
            let entry = |key: &Key| Ok(data.get(key)?.map(Entry::recognised_by_value));
            keys.iter().map(entry).collect()
        })
        .await
    }

    async fn scan(&self, scan: Scan) -> Result<Vec<(Key, Bytes)>, KvError> {
        let Some(range) = range(&scan) else {
            return Ok(Vec::new());
        };
        self.read(move |data| {
            let _whole = data.whole();
            data.entries(range, scan.order, scan.limit, |_| true)
        })
        .await
    }

    async fn commit(&self, commit: Commit) -> Result<(), KvError> {
        self.writer.commit(commit).await
    }

    async fn snapshot(&self) -> Result<Arc<dyn Kv>, KvError> {
        let snapshot: Arc<dyn Kv> = self
            .read({
                let data = self.data.clone();
                move |_| Ok(Arc::new(Snapshot::take(data)))
            })
            .await?;
        Ok(snapshot)
    }

    async fn check(&self, pace: Pace) -> Result<(), KvError> {
        tip::check(self.data.clone(), pace).await
    }

    async fn accepts(&self) -> Result<(), KvError> {
        let writer = self.writer.clone();
        blocking(&self.data, writer, |writer| writer.accepts()).await
    }

    async fn owned(&self) -> Result<(), KvError> {
        Ok(())
    }
}

fn failed(action: &'static str, error: &dyn std::fmt::Display) -> KvError {
    KvError::Failed {
        action,
        reason: error.to_string(),
    }
}
