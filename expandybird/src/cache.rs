//! A cache of compiled values, by their content.
//!
//! Shares values that are expensive to compile (schemas, sets of templates) between requests, within a limit. It does
//! not know the values: the key is a digest of all sources of the value, so an entry is never wrong, only evicted.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

/// SHA-256 of the sources of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key([u8; 32]);

impl Key {
    /// The key of some texts. It depends on where each text ends.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut digest = Sha256::new();
        for text in texts {
            digest.update(text.len().to_le_bytes());
            digest.update(text.as_bytes());
        }
        Self(digest.finalize().into())
    }

    pub fn bytes(self) -> [u8; 32] {
        self.0
    }

    /// Eight bytes of the key, as a number that differs with the content.
    pub fn number(self) -> u64 {
        self.0
            .iter()
            .take(8)
            .fold(0, |number, &byte| number << 8 | u64::from(byte))
    }
}

/// A bounded cache. The least recently used entry is evicted first.
#[derive(Debug)]
pub struct Cache<T> {
    entries: Mutex<Entries<T>>,
    capacity: usize,
}

#[derive(Debug)]
struct Entries<T> {
    by_key: HashMap<Key, Entry<T>>,
    asked: u64,
}

#[derive(Debug)]
struct Entry<T> {
    value: Arc<T>,
    last_asked: u64,
}

impl<T> Cache<T> {
    pub fn new(capacity: usize) -> Self {
        let entries = Mutex::new(Entries {
            by_key: HashMap::new(),
            asked: 0,
        });
        Self { entries, capacity }
    }

    /// The entry for the key. If it is missing, it is made now. A failure is not remembered.
    pub fn get_or_make<E>(
        &self,
        key: Key,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        if let Some(found) = self.get(key) {
            return Ok(found);
        }
        // Made without the lock: two callers may make the same value, and neither waits for the other.
        let made = Arc::new(make()?);
        self.put(key, Arc::clone(&made));
        Ok(made)
    }

    fn get(&self, key: Key) -> Option<Arc<T>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.asked += 1;
        let now = entries.asked;
        let entry = entries.by_key.get_mut(&key)?;
        entry.last_asked = now;
        Some(Arc::clone(&entry.value))
    }

    fn put(&self, key: Key, value: Arc<T>) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.by_key.len() >= self.capacity {
            let oldest = entries
                .by_key
                .iter()
                .min_by_key(|(_, entry)| entry.last_asked);
            if let Some(oldest) = oldest.map(|(&key, _)| key) {
                entries.by_key.remove(&oldest);
            }
        }
        let last_asked = entries.asked;
        entries.by_key.insert(key, Entry { value, last_asked });
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn made(cache: &Cache<u32>, text: &str, value: u32) -> u32 {
        let made = cache.get_or_make(Key::of([text]), || Ok::<_, Infallible>(value));
        made.map(|value| *value).unwrap()
    }

    #[test]
    fn the_same_content_is_made_once() {
        let cache = Cache::new(2);
        assert_eq!(made(&cache, "a", 1), 1);
        assert_eq!(made(&cache, "a", 2), 1);
    }

    #[test]
    fn a_full_cache_forgets_what_was_not_asked_for_the_longest() {
        let cache = Cache::new(2);
        made(&cache, "a", 1);
        made(&cache, "b", 1);
        made(&cache, "a", 1);
        made(&cache, "c", 1);
        assert_eq!(made(&cache, "a", 2), 1);
        assert_eq!(made(&cache, "b", 2), 2);
    }

    #[test]
    fn where_a_text_ends_makes_a_difference() {
        assert_ne!(Key::of(["ab", "c"]), Key::of(["a", "bc"]));
    }
}
