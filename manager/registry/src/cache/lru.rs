//! A map of limited size. The least recently used entries are removed first.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

#[derive(Debug)]
pub struct Lru<K, V> {
    limit: u64,
    used: u64,
    clock: u64,
    held: HashMap<K, Held<V>>,
    /// The keys by their last use, the oldest first.
    order: BTreeMap<u64, K>,
}

#[derive(Debug)]
struct Held<V> {
    value: V,
    size: u64,
    used: u64,
}

impl<K: Clone + Eq + Hash, V> Lru<K, V> {
    /// `limit` is in the unit of the sizes that are put.
    pub fn new(limit: u64) -> Self {
        Self {
            limit,
            used: 0,
            clock: 0,
            held: HashMap::new(),
            order: BTreeMap::new(),
        }
    }

    /// Counts as a use.
    pub fn get(&mut self, key: &K) -> Option<&V> {
        let now = self.tick();
        let held = self.held.get_mut(key)?;
        self.order.remove(&held.used);
        self.order.insert(now, key.clone());
        held.used = now;
        Some(&held.value)
    }

    /// Returns the removed keys. A value that is too large is among them.
    pub fn put(&mut self, key: K, value: V, size: u64) -> Vec<K> {
        self.remove(&key);
        let used = self.tick();
        self.order.insert(used, key.clone());
        self.held.insert(key, Held { value, size, used });
        self.used += size;
        let mut gone = Vec::new();
        while self.used > self.limit
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.remove(&oldest);
            gone.push(oldest);
        }
        gone
    }

    pub fn remove(&mut self, key: &K) -> Option<V> {
        let held = self.held.remove(key)?;
        self.order.remove(&held.used);
        self.used -= held.size;
        Some(held.value)
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let mut lru = Lru::new(10);
        for key in ["a", "b", "c"] {
            assert!(lru.put(key, key, 3).is_empty());
        }
        assert_eq!(lru.get(&"a"), Some(&"a"));
        assert_eq!(lru.put("d", "d", 4), ["b"]);
        assert_eq!(lru.put("e", "e", 10), ["c", "a", "d"]);
        assert_eq!(lru.get(&"b"), None);
    }

    #[test]
    fn what_is_put_again_counts_once_and_what_is_too_large_is_not_kept() {
        let mut lru = Lru::new(10);
        for _ in 0..5 {
            assert!(lru.put("a", 1, 6).is_empty());
        }
        assert_eq!(lru.put("b", 2, 11), ["a", "b"]);
        assert_eq!(lru.remove(&"b"), None);
        assert_eq!(lru.used, 0);
    }
}
