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
    /// What an entry takes of the capacity.
    weight: fn(&T) -> usize,
}

#[derive(Debug)]
struct Entries<T> {
    by_key: HashMap<Key, Entry<T>>,
    asked: u64,
}

#[derive(Debug)]
struct Entry<T> {
    value: Arc<T>,
    weight: usize,
    last_asked: u64,
}

impl<T> Cache<T> {
    /// For so many entries.
    pub fn new(capacity: usize) -> Self {
        Self::weighing(capacity, |_| 1)
    }

    /// For entries that weigh so much together. A heavier one is not kept.
    pub fn weighing(capacity: usize, weight: fn(&T) -> usize) -> Self {
        let entries = Mutex::new(Entries {
            by_key: HashMap::new(),
            asked: 0,
        });
        Self {
            entries,
            capacity,
            weight,
        }
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
        let weight = (self.weight)(&value);
        if weight > self.capacity {
            return;
        }
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.by_key.remove(&key);
        entries.make_room(self.capacity - weight);
        let last_asked = entries.asked;
        let entry = Entry {
            value,
            weight,
            last_asked,
        };
        entries.by_key.insert(key, entry);
    }
}

impl<T> Entries<T> {
    fn make_room(&mut self, most: usize) {
        let mut taken: usize = self.by_key.values().map(|entry| entry.weight).sum();
        while taken > most {
            let oldest = self.by_key.iter().min_by_key(|(_, entry)| entry.last_asked);
            let Some(oldest) = oldest.map(|(&key, _)| key) else {
                return;
            };
            let removed = self.by_key.remove(&oldest);
            taken -= removed.map_or(0, |entry| entry.weight);
        }
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
    fn entries_take_as_much_as_they_weigh() {
        let cache = Cache::weighing(10, |value| *value as usize);
        made(&cache, "a", 4);
        made(&cache, "b", 6);
        assert_eq!((made(&cache, "a", 0), made(&cache, "b", 0)), (4, 6));
        made(&cache, "c", 11);
        assert_eq!(made(&cache, "c", 1), 1, "it was too heavy");
        assert_eq!((made(&cache, "b", 0), made(&cache, "a", 0)), (6, 0));
    }

    #[test]
    fn where_a_text_ends_makes_a_difference() {
        assert_ne!(Key::of(["ab", "c"]), Key::of(["a", "bc"]));
    }
}
