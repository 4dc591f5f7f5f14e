//! Many things that are held for a while, each by itself.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use crate::RegistryError;
use crate::cache::stale_while_revalidate::{Fresh, Old};

/// Things held; 1,000 templates of 5 versions are 6,000. When there are more, all are asked for again.
const HELD: usize = 20_000;

#[derive(Debug)]
pub struct Shelf<K, V> {
    lives: Duration,
    held: Mutex<HashMap<K, Fresh<V>>>,
}

impl<K: Eq + Hash, V: Send + Sync + 'static> Shelf<K, V> {
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
        let fresh = self.of(key);
        if fresh.is_empty()
            && let Some((value, loaded)) = earlier.await
        {
            fresh.seed(value, loaded);
        }
        fresh.get(loading).await
    }

    /// Of the first thing that is old, why.
    pub fn stale(&self) -> Option<Old> {
        self.lock().values().find_map(Fresh::stale)
    }

    pub fn expire(&self) {
        self.lock().values().for_each(Fresh::expire);
    }

    fn of(&self, key: K) -> Fresh<V> {
        let mut held = self.lock();
        if held.len() >= HELD && !held.contains_key(&key) {
            held.clear();
        }
        let fresh = held.entry(key);
        fresh.or_insert_with(|| Fresh::new(self.lives)).clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<K, Fresh<V>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
