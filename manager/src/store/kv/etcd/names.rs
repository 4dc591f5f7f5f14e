//! The keys in etcd, all below the store's prefix.
//!
//! | key | value |
//! |---|---|
//! | `PREFIX/data/KEY` | an entry of the store |
//! | `PREFIX/store` | the version of this table, and the id of the cluster |
//! | `PREFIX/owner` | the manager that has the store, bound to its lease |
//! | `PREFIX/manager/LEASE` | a manager that has the store or waits for it, bound to a lease of its own |
//! | `PREFIX/slot/NUMBER` | the id of the last transaction that was sent through the slot |
//! | `PREFIX/redo/commit` | the number of parts of a large commit that is decided |
//! | `PREFIX/redo/part/NUMBER` | changes of a large commit |

use std::ops::Bound;

use super::super::{Key, KeyRange, successor};
use super::client::wire::{Number, Range, Text};

#[derive(Debug, Clone)]
pub struct Names {
    prefix: String,
}

impl Names {
    pub fn new(prefix: &str) -> Self {
        Self {
            prefix: prefix.to_owned(),
        }
    }

    fn key(&self, rest: &str) -> Text {
        Text(format!("{}/{rest}", self.prefix).into_bytes())
    }

    pub fn store(&self) -> Text {
        self.key("store")
    }

    pub fn owner(&self) -> Text {
        self.key("owner")
    }

    pub fn manager(&self, lease: Number) -> Text {
        self.key(&format!("manager/{}", lease.0))
    }

    pub fn managers(&self) -> (Text, Text) {
        below(self.key("manager/"))
    }

    pub fn slot(&self, number: usize) -> Text {
        self.key(&format!("slot/{number:03}"))
    }

    pub fn redo_commit(&self) -> Text {
        self.key("redo/commit")
    }

    pub fn redo_part(&self, number: usize) -> Text {
        self.key(&format!("redo/part/{number:06}"))
    }

    pub fn redo(&self) -> (Text, Text) {
        below(self.key("redo/"))
    }

    /// All that belongs to the store.
    pub fn all(&self) -> (Text, Text) {
        below(self.key(""))
    }

    pub fn entry(&self, key: &[u8]) -> Text {
        Text([self.data().as_slice(), key].concat())
    }

    /// The keys that begin so.
    pub fn entries_below(&self, prefix: &[u8]) -> (Text, Text) {
        below(self.entry(prefix))
    }

    pub fn entries(&self) -> (Text, Text) {
        self.entries_below(&[])
    }

    /// The first key, and the first key after the last.
    pub fn range(&self, (from, to): KeyRange) -> (Text, Text) {
        let from = match from {
            Bound::Included(key) => self.entry(&key),
            Bound::Excluded(key) => after(&self.entry(&key)),
            Bound::Unbounded => self.entry(&[]),
        };
        let to = match to {
            Bound::Included(key) => after(&self.entry(&key)),
            Bound::Excluded(key) => self.entry(&key),
            Bound::Unbounded => self.entries().1,
        };
        (from, to)
    }

    /// The store's key of an entry.
    pub fn key_of(&self, entry: Text) -> Key {
        let mut key = entry.0;
        key.drain(..self.data().len().min(key.len()));
        key
    }

    fn data(&self) -> Key {
        self.key("data/").0
    }
}

/// The first key after this one.
pub fn after(key: &Text) -> Text {
    let mut next = key.0.clone();
    next.push(0);
    Text(next)
}

fn below(prefix: Text) -> (Text, Text) {
    // Names are ASCII, so a prefix has a successor.
    let end = successor(&prefix.0).unwrap_or_default();
    (prefix, Text(end))
}

/// One key, as it is now.
pub fn one(key: Text) -> Range {
    Range {
        key,
        ..Range::default()
    }
}

/// Keys from the first to before the second.
pub fn between((key, end): (Text, Text), limit: usize) -> Range {
    Range {
        key,
        range_end: Some(end),
        limit: Some(Number(i64::try_from(limit).unwrap_or(i64::MAX))),
        ..Range::default()
    }
}
