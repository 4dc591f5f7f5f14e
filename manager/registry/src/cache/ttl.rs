//! Many things that are held for a while, each by itself.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use super::{StaleWhileRevalidate, Staleness};
use crate::RegistryError;

/// Things held; 1,000 templates of 5 versions are 6,000. When there are more, all are asked for again.
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

    /// What is held, or what `load` gives; `earlier` knows what another process held.
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
            slot.seed(value, loaded);
        }
        slot.get(loading).await
    }

    /// Of the first thing that is old, why.
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
