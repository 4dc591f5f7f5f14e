//! A cache in memory, limited by the sizes of its values. Values are shared, so reading one copies nothing.

use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::lru::Lru;

/// The least recently used values are removed first.
#[derive(Debug)]
pub struct MemoryCache<K, V>(Mutex<Lru<K, V>>);

impl<K: Clone + Eq + Hash, V: Clone> MemoryCache<K, V> {
    /// `limit` is in the unit of the sizes that are put.
    pub fn new(limit: u64) -> Self {
        Self(Mutex::new(Lru::new(limit)))
    }

    /// Counts as a use.
    pub fn get(&self, key: &K) -> Option<V> {
        self.lock().get(key).cloned()
    }

    pub fn put(&self, key: K, value: V, size: u64) {
        self.lock().put(key, value, size);
    }

    fn lock(&self) -> MutexGuard<'_, Lru<K, V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
