//! The store on disk, in sled. The only folder that knows sled.
//!
//! Reads go to sled from any thread. All commits go through one thread ([`writer`]), which makes those that arrive
//! together durable together: the disk is waited for once, however many they are.
//!
//! sled takes damage in its log for a crash at that place, and goes on without what comes after: [`tip`] finds out.

mod blobs;
mod files;
mod open;
mod snapshot;
#[cfg(test)]
mod tests;
mod tip;
mod writer;

use std::num::NonZeroUsize;
use std::ops::RangeBounds;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, Weak};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use sled::IVec;
use tokio::sync::Semaphore;

use self::files::Files;
use self::snapshot::Snapshot;
use self::writer::Writer;
use super::{Commit, Key, Kv, KvError, Order, Pace, Scan, range};

/// The store; clones are the same one.
#[derive(Debug, Clone)]
pub struct SledKv {
    data: Arc<Data>,
    writer: Arc<Writer>,
    readers: Arc<Semaphore>,
}

/// Reads at once, for each processor: more would only take turns, each with the memory of a thread.
const READERS: usize = 2;

/// What readers and the writer share.
#[derive(Debug)]
struct Data {
    path: PathBuf,
    db: sled::Db,
    /// Who hears of each change before it is made. Held to read by who reads, and to write while a commit is applied:
    /// so nobody sees a part of one.
    watchers: RwLock<Vec<Weak<dyn Watcher>>>,
}

/// Who reads the store in parts while others commit.
trait Watcher: std::fmt::Debug + Send + Sync {
    fn changes(&self, key: &Key, before: Option<&Bytes>, after: Option<&Bytes>);
}

impl SledKv {
    /// Opens the store in a folder, or makes a new one there. One process at a time: the file is locked.
    pub fn open(path: &Path) -> Result<Self, KvError> {
        Self::open_keeping(path, files::KEPT_FREE)
    }

    /// As [`Self::open`], with so many bytes of the disk kept free.
    fn open_keeping(path: &Path, kept_free: u64) -> Result<Self, KvError> {
        let (db, tip) = open::open(path)?;
        let data = Arc::new(Data {
            path: path.to_owned(),
            db,
            watchers: RwLock::default(),
        });
        let files = Files::open(path, kept_free)?;
        let tip = match tip {
            Some(tip) => tip,
            None => tip::counted(&data)?,
        };
        let writer = Arc::new(Writer::start(data.clone(), files, tip)?);
        let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let readers = Arc::new(Semaphore::new(READERS * processors));
        Ok(Self {
            data,
            writer,
            readers,
        })
    }

    /// sled waits for the disk, so its calls keep off the threads that serve.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Data) -> Result<T, KvError> + Send + 'static,
    ) -> Result<T, KvError> {
        // It is never closed.
        let _place = self.readers.acquire().await.ok();
        blocking(self.data.clone(), move |data| work(&data)).await
    }
}

async fn blocking<A: Send + 'static, T: Send + 'static>(
    of: A,
    work: impl FnOnce(A) -> Result<T, KvError> + Send + 'static,
) -> Result<T, KvError> {
    let done = tokio::task::spawn_blocking(move || work(of)).await;
    done.map_err(|error| KvError::Failed {
        action: "read",
        reason: error.to_string(),
    })?
}

impl Data {
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
        let entries: Result<Vec<_>, _> = wanted.take(limit).collect();
        Ok(together(
            entries.map_err(|error| self.failed("read", &error))?,
        ))
    }

    fn failed(&self, action: &'static str, error: &sled::Error) -> KvError {
        match error {
            sled::Error::Corruption { .. } => open::damaged(&self.path, "a page cannot be read"),
            error => failed(action, error),
        }
    }
}

/// With all values in one piece of memory: a page of them is read, answered and forgotten as a whole.
fn together(entries: Vec<(IVec, IVec)>) -> Vec<(Key, Bytes)> {
    let size = entries.iter().map(|(_, value)| value.len()).sum();
    let mut values = BytesMut::with_capacity(size);
    for (_, value) in &entries {
        values.extend_from_slice(value);
    }
    let mut values = values.freeze();
    let entry = |(key, value): (IVec, IVec)| (key.to_vec(), values.split_to(value.len()));
    entries.into_iter().map(entry).collect()
}

#[async_trait]
impl Kv for SledKv {
    async fn get(&self, key: &[u8]) -> Result<Option<Bytes>, KvError> {
        let key = key.to_vec();
        self.blocking(move |data| {
            let _whole = data.whole();
            data.get(&key)
        })
        .await
    }

    async fn get_each(&self, keys: Vec<Key>) -> Result<Vec<Option<Bytes>>, KvError> {
        self.blocking(move |data| {
            let _whole = data.whole();
            keys.iter().map(|key| data.get(key)).collect()
        })
        .await
    }

    async fn scan(&self, scan: Scan) -> Result<Vec<(Key, Bytes)>, KvError> {
        let Some(range) = range(&scan) else {
            return Ok(Vec::new());
        };
        self.blocking(move |data| {
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
            .blocking({
                let data = self.data.clone();
                move |_| Ok(Arc::new(Snapshot::take(data)))
            })
            .await?;
        Ok(snapshot)
    }

    async fn check(&self, pace: Pace) -> Result<(), KvError> {
        tip::check(self.data.clone(), pace).await
    }
}

fn failed(action: &'static str, error: &dyn std::fmt::Display) -> KvError {
    KvError::Failed {
        action,
        reason: error.to_string(),
    }
}
