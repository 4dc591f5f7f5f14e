//! The store in memory: for tests, and for `--store memory:`. Its contents are lost when the process ends.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;

use super::{Commit, Entry, Key, Kv, KvError, Order, Pace, Scan, range, sum};

#[derive(Debug, Default)]
pub struct MemoryKv {
    entries: Mutex<BTreeMap<Key, Bytes>>,
}

impl MemoryKv {
    /// Nothing panics while it holds the lock, so what a poisoned one guards is whole.
    fn entries(&self) -> MutexGuard<'_, BTreeMap<Key, Bytes>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Kv for MemoryKv {
    async fn get(&self, key: &[u8]) -> Result<Option<Entry>, KvError> {
        let found = self.entries().get(key).cloned();
        Ok(found.map(Entry::recognised_by_value))
    }

    async fn get_each(&self, keys: Vec<Key>) -> Result<Vec<Option<Entry>>, KvError> {
        let entries = self.entries();
        let found = keys.iter().map(|key| entries.get(key).cloned());
        Ok(found
            .map(|found| found.map(Entry::recognised_by_value))
            .collect())
    }

    async fn scan(&self, scan: Scan) -> Result<Vec<(Key, Bytes)>, KvError> {
        let Some(range) = range(&scan) else {
            return Ok(Vec::new());
        };
        let entries = self.entries();
        let found = entries
            .range(range)
            .map(|(key, value)| (key.clone(), value.clone()));
        Ok(match scan.order {
            Order::Ascending => found.take(scan.limit).collect(),
            Order::Descending => found.rev().take(scan.limit).collect(),
        })
    }

    async fn commit(&self, commit: Commit) -> Result<(), KvError> {
        let mut entries = self.entries();
        let holds = |(key, expected): &(Key, Option<Entry>)| match (entries.get(key), expected) {
            (Some(found), Some(expected)) => expected.is(found),
            (found, expected) => found.is_none() && expected.is_none(),
        };
        if !commit.expect.iter().all(holds) {
            return Err(KvError::Conflict);
        }
        let sums = commit.add.iter().map(|(key, by)| {
            let after = sum(entries.get(key).map(AsRef::as_ref), *by)?;
            Ok((key.as_slice(), after))
        });
        let sums: Vec<_> = sums.collect::<Result<_, KvError>>()?;
        for prefix in &commit.delete_prefix {
            entries.retain(|key, _| !key.starts_with(prefix));
        }
        let writes = commit.writes().into_iter();
        let writes = writes.map(|(key, value)| (key, value.cloned()));
        for (key, after) in writes.chain(sums) {
            match after {
                Some(value) => entries.insert(key.to_vec(), value),
                None => entries.remove(key),
            };
        }
        Ok(())
    }

    /// A copy: the values are shared. Nobody commits to it.
    async fn snapshot(&self) -> Result<Arc<dyn Kv>, KvError> {
        let entries = Mutex::new(self.entries().clone());
        Ok(Arc::new(Self { entries }))
    }

    async fn check(&self, _: Pace) -> Result<(), KvError> {
        Ok(())
    }

    async fn accepts(&self) -> Result<(), KvError> {
        Ok(())
    }

    async fn owned(&self) -> Result<(), KvError> {
        Ok(())
    }
}
