//! The store as it was at one moment, for reading while others write.
//!
//! sled has no snapshots. So the writer keeps, for each snapshot that is being read, what the keys that it changes were
//! before: what is on the disk and not among them is as it was.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;

use super::super::{Commit, Entry, Key, Kv, KvError, Order, Pace, Scan, range, read_only};
use super::{Data, Watcher, blocking, failed, tip};

/// What is kept for one snapshot at most: reading it should take seconds, not days.
const KEPT_BYTES: usize = 256 * 1024 * 1024;

#[derive(Debug, Clone)]
pub struct Snapshot {
    data: Arc<Data>,
    overlay: Arc<Overlay>,
}

/// What has changed since.
#[derive(Debug, Default)]
pub struct Overlay {
    before: Mutex<Before>,
}

#[derive(Debug, Default)]
struct Before {
    /// `None` where there was nothing.
    values: BTreeMap<Key, Option<Bytes>>,
    bytes: usize,
}

impl Watcher for Overlay {
    fn changes(&self, key: &Key, value: Option<&Bytes>, _: Option<&Bytes>) {
        let mut before = self.before();
        if before.bytes > KEPT_BYTES || before.values.contains_key(key) {
            return;
        }
        before.bytes += key.len() + value.map_or(0, Bytes::len);
        before.values.insert(key.clone(), value.cloned());
    }
}

impl Overlay {
    fn before(&self) -> MutexGuard<'_, Before> {
        self.before.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Before {
    fn check(&self) -> Result<(), KvError> {
        if self.bytes <= KEPT_BYTES {
            return Ok(());
        }
        let reason = "too much was written meanwhile; try again when less is going on";
        Err(failed("read as it was", &reason))
    }
}

impl Snapshot {
    pub fn take(data: Arc<Data>) -> Self {
        let overlay = Arc::<Overlay>::default();
        let watcher: Arc<dyn Watcher> = overlay.clone();
        data.watch(Arc::downgrade(&watcher));
        Self { data, overlay }
    }

    fn entry(&self, key: &[u8]) -> Result<Option<Entry>, KvError> {
        let _whole = self.data.whole();
        let before = self.overlay.before();
        before.check()?;
        let value = match before.values.get(key) {
            Some(value) => value.clone(),
            None => self.data.get(key)?,
        };
        Ok(value.map(Entry::recognised_by_value))
    }

    fn entries(&self, scan: &Scan) -> Result<Vec<(Key, Bytes)>, KvError> {
        let Some(range) = range(scan) else {
            return Ok(Vec::new());
        };
        let _whole = self.data.whole();
        let before = self.overlay.before();
        before.check()?;
        let changed = |key: &[u8]| before.values.contains_key(key);
        let mut found = self
            .data
            .entries(range.clone(), scan.order, scan.limit, |key| !changed(key))?;
        let kept = before.values.range(range);
        found.extend(kept.filter_map(|(key, value)| Some((key.clone(), value.clone()?))));
        found.sort_unstable_by(|(one, _), (other, _)| match scan.order {
            Order::Ascending => one.cmp(other),
            Order::Descending => other.cmp(one),
        });
        found.truncate(scan.limit);
        Ok(found)
    }
}

#[async_trait]
impl Kv for Snapshot {
    async fn get(&self, key: &[u8]) -> Result<Option<Entry>, KvError> {
        let key = key.to_vec();
        blocking(&self.data, self.clone(), move |this| this.entry(&key)).await
    }

    async fn get_each(&self, keys: Vec<Key>) -> Result<Vec<Option<Entry>>, KvError> {
        let entries = move |this: Self| keys.iter().map(|key| this.entry(key)).collect();
        blocking(&self.data, self.clone(), entries).await
    }

    async fn scan(&self, scan: Scan) -> Result<Vec<(Key, Bytes)>, KvError> {
        blocking(&self.data, self.clone(), move |this| this.entries(&scan)).await
    }

    async fn commit(&self, _: Commit) -> Result<(), KvError> {
        Err(read_only())
    }

    /// It does not change.
    async fn snapshot(&self) -> Result<Arc<dyn Kv>, KvError> {
        Ok(Arc::new(self.clone()))
    }

    async fn check(&self, pace: Pace) -> Result<(), KvError> {
        tip::check(self.data.clone(), pace).await
    }

    async fn accepts(&self) -> Result<(), KvError> {
        Err(read_only())
    }

    async fn owned(&self) -> Result<(), KvError> {
        Ok(())
    }
}
