//! A small cache of answers with a time to live.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub struct Cache<K, V> {
    kept: Duration,
    entries: usize,
    answers: Mutex<HashMap<K, (Instant, V)>>,
}

impl<K: Hash + Eq, V: Clone> Cache<K, V> {
    /// Keeps at most this many answers, each for this time.
    pub fn new(entries: usize, kept: Duration) -> Self {
        Self {
            kept,
            entries,
            answers: Mutex::default(),
        }
    }

    pub fn get(&self, key: &K) -> Option<V> {
        let answers = self.answers();
        let (at, answer) = answers.get(key)?;
        (at.elapsed() < self.kept).then(|| answer.clone())
    }

    /// A full cache drops expired answers, or else all of them. Filling it costs other callers a repeated question, and
    /// nothing else.
    pub fn put(&self, key: K, answer: V) {
        let mut answers = self.answers();
        if answers.len() >= self.entries {
            answers.retain(|_, (at, _)| at.elapsed() < self.kept);
        }
        if answers.len() >= self.entries {
            answers.clear();
        }
        answers.insert(key, (Instant::now(), answer));
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<K, (Instant, V)>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_kept_for_its_time_only() {
        let long = Cache::new(2, Duration::from_secs(3600));
        long.put("a", 1);
        assert_eq!(long.get(&"a"), Some(1));
        let none = Cache::new(2, Duration::ZERO);
        none.put("a", 1);
        assert_eq!(none.get(&"a"), None);
    }

    #[test]
    fn the_room_is_bounded() {
        let cache = Cache::new(8, Duration::from_secs(3600));
        for number in 0..1000 {
            cache.put(number, number);
            assert!(cache.answers().len() <= 8);
            assert_eq!(cache.get(&number), Some(number));
        }
    }
}
