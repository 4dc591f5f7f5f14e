//! What this manager has read and written, so that it need not ask etcd for it again.
//!
//! One manager has the store, and all that changes in it goes through that manager. So what it knows of a key holds until
//! it changes the key itself. While a commit that changes a key is under way, nothing is known of it. Whether the manager
//! still has the store is checked before each look ([`super::ownership::Ownership::check`]), as before each question to etcd.
//!
//! It is made by hand, because all keys below a prefix leave it at once.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::client::wire::{Number, entry};
use crate::store::kv::{Commit, Entry, Key, KeyRange, successor};

/// Bytes of all that is kept.
pub const BYTES: usize = 64 * 1024 * 1024;
/// Larger values are pieces of contents, which are read once.
const VALUE_BYTES: usize = 16 * 1024;
/// What an entry takes beside its key and value.
const OVERHEAD: usize = 128;

#[derive(Debug)]
pub struct Cache(Mutex<State>);

/// What was not asked for since the last generation began is in the old one, which is dropped when the young one is full.
#[derive(Debug, Default)]
struct State {
    /// Bytes of the young generation when it is full.
    full: usize,
    young: Generation,
    old: Generation,
    changing: BTreeMap<Key, Change>,
    /// The number of commits under way that delete all keys below a prefix.
    changing_below: BTreeMap<Key, usize>,
    /// The last commit that is known to have happened.
    written: Number,
    /// What was known at this revision may not be here any more. An answer from before it may be older than that.
    lost: Number,
}

/// Commits under way that change a key.
#[derive(Debug)]
struct Change {
    count: usize,
    /// Whether there was no other one meanwhile. Otherwise it is not known which was the last.
    is_alone: bool,
}

#[derive(Debug, Default)]
struct Generation {
    entries: BTreeMap<Key, Known>,
    bytes: usize,
}

#[derive(Debug, Clone)]
struct Known {
    /// `None`: there is nothing.
    entry: Option<Entry>,
    /// The revision at which this was so.
    at: Number,
}

/// The keys of a commit that is under way. They are unknown until this is dropped.
#[derive(Debug)]
pub struct Changing<'a> {
    cache: &'a Cache,
    keys: BTreeSet<Key>,
    prefixes: BTreeSet<Key>,
}

impl Cache {
    /// Keeps at most so many bytes, in two generations.
    pub fn new(bytes: usize) -> Self {
        Self(Mutex::new(State {
            full: bytes / 2,
            ..State::default()
        }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What all of the keys have now, if all are known.
    pub fn look(&self, keys: &[Key]) -> Option<Vec<Option<Entry>>> {
        let mut state = self.state();
        keys.iter().map(|key| state.look(key)).collect()
    }

    /// Keeps an answer of etcd: what the keys had at a revision.
    pub fn keep(&self, keys: &[Key], entries: &[Option<Entry>], at: Number) {
        let mut state = self.state();
        for (key, entry) in keys.iter().zip(entries) {
            state.learn(key, entry.clone(), at);
        }
    }

    /// Keys that etcd has otherwise than they are known.
    pub fn forget<'k>(&self, keys: impl Iterator<Item = &'k Key>) {
        let mut state = self.state();
        keys.for_each(|key| state.forget(key));
    }

    /// The keys of a commit, before it is sent.
    pub fn change(&self, commit: &Commit) -> Changing<'_> {
        let put = commit.put.iter().map(|(key, _)| key);
        let added = commit.add.iter().map(|(key, _)| key);
        let changing = Changing {
            cache: self,
            keys: put.chain(added).chain(&commit.delete).cloned().collect(),
            prefixes: commit.delete_prefix.iter().cloned().collect(),
        };
        self.state().begin(&changing);
        changing
    }
}

impl Changing<'_> {
    /// The commit has happened: what its keys have since then.
    pub fn done<'k>(mut self, at: Number, writes: &BTreeMap<&'k [u8], Option<&'k Bytes>>) {
        let mut state = self.cache.state();
        state.written = state.written.max(at);
        let mut learns = self.prefixes.is_empty();
        for key in mem::take(&mut self.keys) {
            let is_alone = state.end(&key);
            match writes.get(key.as_slice()).filter(|_| is_alone) {
                Some(value) => {
                    let entry = value.map(|value| entry(value.clone(), at));
                    learns &= state.learn(&key, entry, at);
                }
                None => learns = false,
            }
        }
        if !learns {
            state.lost = state.lost.max(at);
        }
        for prefix in mem::take(&mut self.prefixes) {
            state.end_below(&prefix);
        }
    }
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        let mut state = self.cache.state();
        for key in &self.keys {
            state.end(key);
        }
        for prefix in &self.prefixes {
            state.end_below(prefix);
        }
    }
}

impl State {
    fn look(&mut self, key: &Key) -> Option<Option<Entry>> {
        if let Some(known) = self.young.entries.get(key) {
            return Some(known.entry.clone());
        }
        let known = self.old.remove(key)?;
        let entry = known.entry.clone();
        self.insert(key.clone(), known);
        Some(entry)
    }

    /// Whether it is known from now on.
    fn learn(&mut self, key: &Key, entry: Option<Entry>, at: Number) -> bool {
        let size = entry.as_ref().map_or(0, |entry| entry.value.len());
        if at < self.lost || self.is_changing(key) || size > VALUE_BYTES {
            return false;
        }
        let (young, old) = (&self.young.entries, &self.old.entries);
        let known = young.get(key).or_else(|| old.get(key));
        if known.is_none_or(|known| known.at <= at) {
            self.remove(key);
            self.insert(key.clone(), Known { entry, at });
        }
        true
    }

    fn insert(&mut self, key: Key, known: Known) {
        self.young.insert(key, known);
        if self.young.bytes > self.full {
            self.old = mem::take(&mut self.young);
            self.lost = self.written;
        }
    }

    fn remove(&mut self, key: &Key) -> Option<Known> {
        self.young.remove(key).or_else(|| self.old.remove(key))
    }

    fn forget(&mut self, key: &Key) {
        if let Some(known) = self.remove(key) {
            self.lost = self.lost.max(known.at);
        }
    }

    fn is_changing(&self, key: &Key) -> bool {
        self.changing.contains_key(key) || self.is_changing_below(key)
    }

    fn is_changing_below(&self, key: &Key) -> bool {
        let mut prefixes = self.changing_below.keys();
        prefixes.any(|prefix| key.starts_with(prefix))
    }

    fn begin(&mut self, changing: &Changing<'_>) {
        for key in &changing.keys {
            self.forget(key);
            let is_alone = !self.is_changing_below(key);
            let new = Change { count: 0, is_alone };
            let change = self.changing.entry(key.clone()).or_insert(new);
            change.is_alone &= change.count == 0;
            change.count += 1;
        }
        for prefix in &changing.prefixes {
            for generation in [&mut self.young, &mut self.old] {
                let last = generation.remove_below(prefix);
                self.lost = self.lost.max(last);
            }
            for (_, change) in self.changing.range_mut(below(prefix)) {
                change.is_alone = false;
            }
            *self.changing_below.entry(prefix.clone()).or_default() += 1;
        }
    }

    /// Whether the commit that ends was the only one that changed the key meanwhile.
    fn end(&mut self, key: &Key) -> bool {
        let Some(change) = self.changing.get_mut(key) else {
            return false;
        };
        change.count -= 1;
        let is_alone = change.is_alone;
        if change.count == 0 {
            self.changing.remove(key);
        }
        is_alone
    }

    fn end_below(&mut self, prefix: &Key) {
        if let Some(count) = self.changing_below.get_mut(prefix) {
            *count -= 1;
            if *count == 0 {
                self.changing_below.remove(prefix);
            }
        }
    }
}

impl Generation {
    fn insert(&mut self, key: Key, known: Known) {
        self.bytes += size(&key, &known);
        self.entries.insert(key, known);
    }

    fn remove(&mut self, key: &Key) -> Option<Known> {
        let known = self.entries.remove(key)?;
        self.bytes -= size(key, &known);
        Some(known)
    }

    /// The last revision at which one of them was known.
    fn remove_below(&mut self, prefix: &Key) -> Number {
        let mut last = Number(0);
        while let Some((key, known)) = self.entries.range(below(prefix)).next() {
            last = last.max(known.at);
            let key = key.clone();
            self.remove(&key);
        }
        last
    }
}

fn size(key: &Key, known: &Known) -> usize {
    let value = known.entry.as_ref().map_or(0, |entry| entry.value.len());
    key.len() + value + OVERHEAD
}

/// All keys that begin so.
fn below(prefix: &Key) -> KeyRange {
    let end = successor(prefix).map_or(Bound::Unbounded, Bound::Excluded);
    (Bound::Included(prefix.clone()), end)
}
