//! The port to a store of keys and values.
//!
//! Promises of every adapter, proved by [`conformance`](self) over each:
//! - [`Kv::commit`] is atomic: all of it or nothing, also after a crash; it has happened durably before it returns `Ok`.
//! - A commit whose expectations do not hold changes nothing and says [`KvError::Conflict`].
//! - What a commit expects is compared by versions: a value that was replaced by an equal one may count as changed.
//! - Numbers that are only added to ([`Commit::add`]) never conflict: many may count under one key at once.
//! - [`Kv::scan`] sees keys in the order of their bytes, and whole commits only within one call.
//! - [`Kv::snapshot`] stays as the store was, whatever is committed meanwhile.
//!
//! Adapters know nothing of what the keys mean.

mod etcd;
mod memory;
pub mod metrics;
mod sealed;
mod sled;

#[cfg(test)]
mod conformance;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

#[cfg(test)]
pub use self::etcd::testing as etcd_testing;
pub use self::etcd::{
    AddressError, Candidate, EtcdAddress, EtcdKv, EtcdReader, Owner, REGISTRATION_BEAT, StoreAccess,
};
pub use self::memory::MemoryKv;
pub use self::sealed::{SealError, SealedKv};
pub use self::sled::{SledKv, was_asked};

pub type Key = Vec<u8>;

/// Tells one value of a key from all others that the key has had. Only the adapter that made it can read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version(Bytes);

/// A value as it was read, for a commit that expects it to be there still.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub value: Bytes,
    version: Version,
}

impl Entry {
    /// For adapters that recognise a value by its bytes.
    fn recognised_by_value(value: Bytes) -> Self {
        let version = Version(value.clone());
        Self { value, version }
    }

    /// Whether the value is that one still, in a store that recognises values by their bytes.
    fn is(&self, value: &[u8]) -> bool {
        self.version.0 == value
    }
}

impl std::ops::Deref for Entry {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.value
    }
}

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
    /// Nothing was written; it may be tried again.
    #[error(
        "the store's disk is full: {free_mib} MiB are free, and {kept_mib} MiB are kept free; make room there"
    )]
    Full { free_mib: u64, kept_mib: u64 },
    /// Something that was acknowledged is missing or cannot be read.
    #[error(
        "{place} is damaged: {reason}; restore a backup into a new store (dm admin restore){}",
        way_on(accept.as_deref())
    )]
    Damaged {
        place: String,
        reason: String,
        /// The token that accepts the loss, where what is left can be used.
        accept: Option<String>,
    },
    #[error(
        "the store is sealed with another key than those in --credential-key, {key}: bring the file back that has it, or choose another --store if this one is another installation's"
    )]
    OtherKey {
        /// By its id.
        key: String,
    },
    /// Nobody answers. A commit with this error was not made.
    #[error("the store is unreachable: {reason}; try again, and look after the store if it lasts")]
    Unreachable { reason: String },
    /// Only when this process may write no more.
    #[error(
        "it is not known whether this was written: the store was unreachable, and another manager may have it now; read what is there, or repeat the request with its Idempotency-Key"
    )]
    Unknown,
    /// The store is a service, and has reached its limit. Nothing was written.
    #[error(
        "the store is out of space: nothing was written; compact and defragment etcd, then disarm its alarm NOSPACE"
    )]
    NoSpace,
    #[error(
        "the store at {place} was written in another cluster: in {before}, and this one is {cluster}; check the addresses in --store, or, if this cluster was restored from a snapshot, start the manager once with --accept-loss {accept} (DM_ACCEPT_LOSS), then run dm admin verify"
    )]
    OtherCluster {
        place: String,
        cluster: String,
        before: String,
        /// The token that accepts the cluster.
        accept: String,
    },
    /// This process reads and writes no more.
    #[error(
        "this manager no longer has the store: {reason}; start it again, and it waits for its turn"
    )]
    TakenOver { reason: String },
    /// Another process has it, which is in the middle of something.
    #[error(
        "the manager that has the store has not completed a large commit or a restore; try again"
    )]
    NotWhole,
    #[error("the store cannot be {action}: {reason}")]
    Failed {
        action: &'static str,
        reason: String,
    },
}

fn way_on(token: Option<&str>) -> String {
    let way = |token| {
        format!(
            ", or go on with what is left: start the manager once with --accept-loss {token} (DM_ACCEPT_LOSS), then run dm admin verify"
        )
    };
    token.map(way).unwrap_or_default()
}

/// Changes that happen together or not at all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commit {
    /// What must still be there, as it was read; `None` means that the key must not exist.
    pub expect: Vec<(Key, Option<Entry>)>,
    pub put: Vec<(Key, Bytes)>,
    /// Deleting what is not there is fine.
    pub delete: Vec<Key>,
    /// All keys that begin so are deleted, whichever there are then.
    pub delete_prefix: Vec<Key>,
    /// By how much the number under a key changes: decimal digits, none of a key that is not there. One that comes to
    /// 0 is no longer there. Each key once, and in none of the other lists.
    pub add: Vec<(Key, i64)>,
    /// Whether a caller waits for it. Where commits wait for each other, it waits for those with a caller alone.
    pub is_urgent: bool,
}

impl Commit {
    /// Bytes that it writes.
    fn size(&self) -> usize {
        let put = self.put.iter().map(|(key, value)| key.len() + value.len());
        put.sum::<usize>() + self.delete.iter().map(Vec::len).sum::<usize>()
    }

    /// What each key is put to, or `None` where it is deleted by its name: deletes win, and the last put of a key.
    fn writes(&self) -> BTreeMap<&[u8], Option<&Bytes>> {
        let put = self.put.iter();
        let mut writes: BTreeMap<_, _> = put
            .map(|(key, value)| (key.as_slice(), Some(value)))
            .collect();
        for prefix in &self.delete_prefix {
            writes.retain(|key, _| !key.starts_with(prefix));
        }
        writes.extend(self.delete.iter().map(|key| (key.as_slice(), None)));
        writes
    }
}

/// A manager that has the store or waits for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registered {
    /// The host and the process, for people.
    pub name: String,
    /// Of the program.
    pub version: String,
    /// The newest format of the store that it reads.
    pub reads: u32,
    /// The ids of the keys in its key file, in the file's order. Empty for managers of earlier builds.
    #[serde(default)]
    pub keys: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    #[default]
    Ascending,
    Descending,
}

/// How much of the store's time something takes that reads all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Somebody waits for it.
    Fast,
    /// Nobody does: whatever else is asked of the store goes first.
    Gentle,
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

/// # Errors
/// Each call may fail with [`KvError::Unreachable`], [`KvError::TakenOver`], [`KvError::Damaged`] or [`KvError::Failed`].
/// With a sealed store, a read of a value may also fail with [`KvError::OtherKey`]. The methods name what is theirs alone.
#[async_trait]
pub trait Kv: std::fmt::Debug + Send + Sync {
    /// The value of a key. `None` if the key is not there.
    async fn get(&self, key: &[u8]) -> Result<Option<Entry>, KvError>;

    /// As [`Self::get`], of each, in their order.
    async fn get_each(&self, keys: Vec<Key>) -> Result<Vec<Option<Entry>>, KvError>;

    /// The keys in the range with their values, at most `scan.limit`.
    async fn scan(&self, scan: Scan) -> Result<Vec<(Key, Bytes)>, KvError>;

    /// Deletes win over puts of the same key, and of keys below the same prefix.
    ///
    /// # Errors
    /// - [`KvError::Conflict`]: an expectation does not hold. Read again and decide again.
    /// - [`KvError::Full`], [`KvError::NoSpace`]: there is no room.
    /// - [`KvError::Unknown`]: nobody can say whether the commit was made. After every other error it was not made.
    async fn commit(&self, commit: Commit) -> Result<(), KvError>;

    /// All as it is now, for reading as long as it takes.
    async fn snapshot(&self) -> Result<Arc<dyn Kv>, KvError>;

    /// Whether all that was committed is there. Reads all. The first damage that is found is the error.
    async fn check(&self, pace: Pace) -> Result<(), KvError>;

    /// Whether a commit would be accepted now. Writes nothing. The error is the one that the commit would have.
    async fn accepts(&self) -> Result<(), KvError>;

    /// Whether this process still has the store, where others may take it. Asks the store, because a process that was
    /// stopped for a while does not know it.
    async fn owned(&self) -> Result<(), KvError>;

    /// The managers that have the store or wait for it, by name. None where one process has the store for itself.
    async fn managers(&self) -> Result<Vec<Registered>, KvError> {
        Ok(Vec::new())
    }

    /// The adapter that seals values, if one does.
    fn sealing(&self) -> Option<&SealedKv> {
        None
    }
}

/// A number after a change; `None` where none is to be kept.
fn sum(before: Option<&[u8]>, by: i64) -> Result<Option<Bytes>, KvError> {
    let before = match before {
        None => 0,
        Some(digits) => number(digits).ok_or_else(|| KvError::Failed {
            action: "written",
            reason: format!("{:?} is not a number", String::from_utf8_lossy(digits)),
        })?,
    };
    let after = before.saturating_add(by);
    Ok((after != 0).then(|| Bytes::from(after.to_string())))
}

/// A number as [`Commit::add`] leaves it.
pub fn number(digits: &[u8]) -> Option<i64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Readers of a snapshot, or of another manager's store, cannot write to it.
fn read_only() -> KvError {
    KvError::Failed {
        action: "written",
        reason: "it is only for reading here".to_owned(),
    }
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
