//! Values by key, each with its own age.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use super::{StaleWhileRevalidate, Staleness};
use crate::RegistryError;

/// The largest number of values; 1,000 templates of 5 versions take 6,000. Above it, all are dropped.
const HELD: usize = 20_000;

#[derive(Debug)]
pub struct TtlCache<K, V> {
    lives: Duration,
    held: Mutex<HashMap<K, StaleWhileRevalidate<V>>>,
}

impl<K: Eq + Hash, V: Send + Sync + 'static> TtlCache<K, V> {
    pub fn new(lives: Duration) -> Self {
        Self {
            lives,
            held: Mutex::default(),
        }
    }

    /// The current value, or the result of `load`. `earlier` gives the value of an earlier process.
    pub async fn get<F>(
        &self,
        key: K,
        earlier: impl Future<Output = Option<(Arc<V>, Timestamp)>>,
        load: impl FnOnce() -> F,
    ) -> Result<Arc<V>, RegistryError>
    where
        F: Future<Output = Result<V, RegistryError>> + Send + 'static,
    {
        let loading = |_| {
            let loaded = load();
            async move { loaded.await.map(Into::into) }
        };
        let slot = self.slot(key);
        if slot.is_empty()
            && let Some((value, loaded)) = earlier.await
        {
            slot.prefill(value, loaded);
        }
        slot.get(loading).await
    }

    /// The staleness of the first stale value.
    pub fn stale(&self) -> Option<Staleness> {
        self.lock().values().find_map(StaleWhileRevalidate::stale)
    }

    pub fn expire(&self) {
        self.lock().values().for_each(StaleWhileRevalidate::expire);
    }

    fn slot(&self, key: K) -> StaleWhileRevalidate<V> {
        let mut held = self.lock();
        if held.len() >= HELD && !held.contains_key(&key) {
            held.clear();
        }
        let slot = held.entry(key);
        slot.or_insert_with(|| StaleWhileRevalidate::new(self.lives))
            .clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<K, StaleWhileRevalidate<V>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
