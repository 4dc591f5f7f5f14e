//! Commits that fit into one transaction; [`self::large`] makes the others.

pub(super) mod joined;
pub(super) mod large;
pub(super) mod slots;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Add;

use bytes::Bytes;
use tokio::sync::{Mutex, MutexGuard};

use super::super::{Commit, Entry, Key, KvError, sum};
use super::Shared;
use super::client::refusal::failed;
use super::client::wire::{Change, Compare, Delete, Number, Put, Target, Text, revision};

/// etcd takes 128 compares and 128 changes in a transaction; some are the slot's and the owner's.
pub const CHANGES: usize = 120;
/// etcd takes 1.5 MiB in a request.
pub const BYTES: usize = 1024 * 1024;
/// Locks for numbers that are added to. Two numbers may share one.
const STRIPES: usize = 64;

/// Numbers that are added to are read and written by one commit after another: none of this process has to try again.
#[derive(Debug)]
pub struct Stripes(Vec<Mutex<()>>);

impl Stripes {
    pub fn new() -> Self {
        Self((0..STRIPES).map(|_| Mutex::default()).collect())
    }

    /// In one order for all, so that no two wait for each other.
    pub async fn lock(&self, numbers: &[(Key, i64)]) -> Vec<MutexGuard<'_, ()>> {
        let stripe = |(key, _): &(Key, i64)| {
            let mut hasher = DefaultHasher::new();
            key.hash(&mut hasher);
            usize::try_from(hasher.finish() % STRIPES as u64).unwrap_or_default()
        };
        let wanted: BTreeSet<usize> = numbers.iter().map(stripe).collect();
        let mut held = Vec::with_capacity(wanted.len());
        for lock in wanted.iter().filter_map(|stripe| self.0.get(*stripe)) {
            held.push(lock.lock().await);
        }
        held
    }
}

/// What a commit takes of a transaction.
#[derive(Debug, Clone, Copy, Default)]
pub struct Size {
    changes: usize,
    compares: usize,
    bytes: usize,
}

impl Size {
    pub fn of(commit: &Commit) -> Self {
        let changes =
            commit.put.len() + commit.delete.len() + commit.delete_prefix.len() + commit.add.len();
        let expected = commit.expect.iter().map(|(key, _)| key.len());
        Self {
            changes,
            compares: commit.expect.len() + commit.add.len(),
            bytes: commit.size() + expected.sum::<usize>(),
        }
    }

    /// Whether one transaction has room for it.
    pub fn fits(self) -> bool {
        self.changes <= CHANGES && self.compares <= CHANGES && self.bytes <= BYTES
    }
}

impl Add for Size {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            changes: self.changes + other.changes,
            compares: self.compares + other.compares,
            bytes: self.bytes + other.bytes,
        }
    }
}

impl Shared {
    pub async fn commit_small(&self, commit: &Commit) -> Result<(), KvError> {
        let _held = self.numbers.lock(&commit.add).await;
        loop {
            let _whole = self.gate.read().await;
            let numbers = self.added(commit).await?;
            let expected = commit
                .expect
                .iter()
                .map(|(key, entry)| (key, entry.as_ref()));
            let counted = numbers
                .iter()
                .map(|(key, before, _)| (*key, before.as_ref()));
            let compare: Vec<_> = expected
                .chain(counted)
                .map(|(key, entry)| self.compare(key, entry))
                .collect();
            let changing = self.cache.change(commit);
            let changes = self.changes(commit, &numbers);
            if let Some(at) = self.transact(&compare, &changes).await? {
                changing.done(at, &writes(commit, &numbers));
                return Ok(());
            }
            self.cache.forget(commit.expect.iter().map(|(key, _)| key));
            // Only a put of a number that is also added to brings it here.
            let may_be_a_number = !commit.add.is_empty() && self.hold(&commit.expect).await?;
            if !may_be_a_number {
                return Err(KvError::Conflict);
            }
        }
    }

    /// The numbers that it adds to: what they are, and what they become.
    pub async fn added<'a>(&self, commit: &'a Commit) -> Result<Vec<Counted<'a>>, KvError> {
        let keys: Vec<_> = commit.add.iter().map(|(key, _)| key.clone()).collect();
        let found = self.entries(&keys).await?;
        let each = commit.add.iter().zip(found);
        each.map(|((key, by), before)| {
            let after = sum(before.as_deref(), *by)?;
            Ok((key, before, after))
        })
        .collect()
    }

    /// Whether the expectations hold now.
    pub async fn hold(&self, expect: &[(Key, Option<Entry>)]) -> Result<bool, KvError> {
        let keys: Vec<_> = expect.iter().map(|(key, _)| key.clone()).collect();
        let found = self.entries(&keys).await?;
        let at = |entry: &Option<Entry>| entry.as_ref().map(revision);
        let mut each = expect.iter().zip(&found);
        Ok(each.all(|((_, expected), found)| at(expected) == at(found)))
    }

    fn compare(&self, key: &Key, entry: Option<&Entry>) -> Compare {
        Compare {
            key: self.names.entry(key),
            target: Target::Modified {
                mod_revision: entry.map_or(Number(0), revision),
            },
        }
    }

    /// Each key once: etcd refuses others.
    pub fn changes(&self, commit: &Commit, numbers: &[Counted<'_>]) -> Vec<Change> {
        let prefixes = commit.delete_prefix.iter().map(|prefix| {
            let (key, end) = self.names.entries_below(prefix);
            Change::Delete(Delete {
                key,
                range_end: Some(end),
            })
        });
        let writes = writes(commit, numbers).into_iter();
        let writes = writes.map(|(key, value)| self.write(key, value));
        prefixes.chain(writes).collect()
    }

    fn write(&self, key: &[u8], value: Option<&Bytes>) -> Change {
        let key = self.names.entry(key);
        match value {
            Some(value) => Change::Put(Put {
                key,
                value: Text(value.to_vec()),
                lease: None,
            }),
            None => Change::Delete(Delete {
                key,
                range_end: None,
            }),
        }
    }
}

/// What each key is put to, or `None` where it is deleted by its name.
fn writes<'a>(
    commit: &'a Commit,
    numbers: &'a [Counted<'_>],
) -> BTreeMap<&'a [u8], Option<&'a Bytes>> {
    let numbers = numbers
        .iter()
        .map(|(key, _, after)| (key.as_slice(), after.as_ref()));
    let mut all = commit.writes();
    all.extend(numbers);
    all
}

/// A number's key, its entry, and its digits after the change.
pub type Counted<'a> = (&'a Key, Option<Entry>, Option<Bytes>);

/// # Errors
/// If etcd takes no value of this size.
pub fn fits(commit: &Commit) -> Result<(), KvError> {
    let Some((key, value)) = commit.put.iter().find(|(_, value)| value.len() > BYTES) else {
        return Ok(());
    };
    let reason = format!(
        "the entry {:?} has {} bytes, and an entry on etcd has {BYTES} at most; make the deployment smaller",
        String::from_utf8_lossy(key).replace('\0', "/"),
        value.len()
    );
    Err(failed("written", &reason))
}
