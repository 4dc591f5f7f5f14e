//! The port to a store of keys and values.
//!
//! Promises of every adapter, proved by [`conformance`](self) over each:
//! - [`Kv::commit`] is atomic: all of it or nothing, also after a crash; it has happened durably before it returns `Ok`.
//! - A commit whose expectations do not hold changes nothing and says [`KvError::Conflict`].
//! - [`Kv::scan`] sees keys in the order of their bytes, and whole commits only within one call.
//!
//! Adapters know nothing of what the keys mean.

mod memory;
mod sled;

#[cfg(test)]
mod conformance;

use async_trait::async_trait;
use bytes::Bytes;

pub use self::memory::MemoryKv;
pub use self::sled::SledKv;

pub type Key = Vec<u8>;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KvError {
    /// Something else was written in between: read again, decide again.
    #[error("the store changed since it was read")]
    Conflict,
    /// Another process has it open.
    #[error(
        "the store at {path} is in use by another manager; stop that one, or choose another --store"
    )]
    InUse { path: String },
    #[error("the store cannot be {action}: {reason}")]
    Failed {
        action: &'static str,
        reason: String,
    },
}

/// Changes that happen together or not at all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commit {
    /// What must still be there, byte by byte; `None` means that the key must not exist.
    pub expect: Vec<(Key, Option<Bytes>)>,
    pub put: Vec<(Key, Bytes)>,
    /// Deleting what is not there is fine.
    pub delete: Vec<Key>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    #[default]
    Ascending,
    Descending,
}

/// Which keys to read: those that begin with `prefix`, and in the given order come after `after`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    pub prefix: Key,
    /// Exclusive; begins with the prefix.
    pub after: Option<Key>,
    pub limit: usize,
    pub order: Order,
}

#[async_trait]
pub trait Kv: std::fmt::Debug + Send + Sync {
    async fn get(&self, key: &[u8]) -> Result<Option<Bytes>, KvError>;

    async fn scan(&self, scan: Scan) -> Result<Vec<(Key, Bytes)>, KvError>;

    /// Deletes win over puts of the same key.
    async fn commit(&self, commit: Commit) -> Result<(), KvError>;
}

type KeyRange = (std::ops::Bound<Key>, std::ops::Bound<Key>);

/// The keys of a scan as a range, and whether it is empty (a range that ends before it begins is not one).
fn range(scan: &Scan) -> Option<KeyRange> {
    use std::ops::Bound::{Excluded, Included, Unbounded};
    let mut from = Included(scan.prefix.clone());
    let mut to = successor(&scan.prefix).map_or(Unbounded, Excluded);
    match (&scan.after, scan.order) {
        (Some(after), Order::Ascending) => from = Excluded(after.clone()),
        (Some(after), Order::Descending) => to = Excluded(after.clone()),
        (None, _) => {}
    }
    let begins = match &from {
        Included(key) | Excluded(key) => key.as_slice(),
        Unbounded => &[],
    };
    let empty = matches!(&to, Excluded(end) if end.as_slice() <= begins);
    (!empty).then_some((from, to))
}

/// The first key after all that begin with the prefix; none if the prefix is empty or all `0xff`.
fn successor(prefix: &[u8]) -> Option<Key> {
    let last = prefix.iter().rposition(|&byte| byte != u8::MAX)?;
    let mut key = prefix.get(..=last)?.to_vec();
    if let Some(byte) = key.last_mut() {
        *byte += 1;
    }
    Some(key)
}
