//! Templates that were fetched once and cannot change: kept in memory, by the revision of their folder.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use super::fetch::TemplateFile;

/// Templates kept; at [`super::TEMPLATE_BYTES`] each, and a few kilobytes usually.
const KEPT: usize = 200;

/// A folder's path with its registry, and the revision of all that is in it.
pub type Key = (String, String);

#[derive(Debug, Default)]
pub struct Cache(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    files: HashMap<Key, Arc<Vec<TemplateFile>>>,
    /// The oldest first.
    order: VecDeque<Key>,
}

impl Cache {
    pub fn get(&self, key: &Key) -> Option<Arc<Vec<TemplateFile>>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.files.get(key).cloned()
    }

    pub fn put(&self, key: Key, files: Arc<Vec<TemplateFile>>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.files.insert(key.clone(), files).is_some() {
            return;
        }
        kept.order.push_back(key);
        if kept.order.len() > KEPT
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.files.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_when_it_is_full() {
        let cache = Cache::default();
        let key = |n: usize| (n.to_string(), String::new());
        for n in 0..=KEPT {
            cache.put(key(n), Arc::default());
        }
        assert!(cache.get(&key(0)).is_none());
        assert!(cache.get(&key(1)).is_some() && cache.get(&key(KEPT)).is_some());
    }
}
