//! What the store should hold: kept in it, changed by every commit, and compared with what it does hold.
//!
//! sled takes damage in its log for a crash at that place, and goes on without what comes after, or without some of
//! it. Every page that it still has is whole, but nobody can tell that others are missing. So each commit also writes
//! how many there were, and a sum over all entries; and the number of the last one that was acknowledged is kept in a
//! file beside sled's ([`super::files`]).

use std::sync::Arc;

use bytes::Bytes;

use super::super::{Key, KvError, Scan};
use super::snapshot::Snapshot;
use super::{Data, open};

/// The key of the tip. No other begins with a zero byte.
pub const KEY: &[u8] = b"\0tip";
/// Entries that are read at once: commits wait as long.
const AT_ONCE: usize = 1024;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tip {
    /// How many commits there were.
    pub commits: u64,
    /// Of all entries, in any order: so that a commit changes it by what it changes.
    sum: u64,
}

impl Tip {
    /// The tip that a store holds. New stores have none, and those of before there were any.
    pub fn read(db: &sled::Db) -> sled::Result<Option<Self>> {
        Ok(db.get(KEY)?.map(|bytes| Self::decoded(&bytes)))
    }

    fn decoded(bytes: &[u8]) -> Self {
        let number = |part: Option<&[u8]>| {
            let bytes = part.and_then(|part| part.try_into().ok());
            bytes.map_or(0, u64::from_be_bytes)
        };
        Self {
            commits: number(bytes.get(..8)),
            sum: number(bytes.get(8..16)),
        }
    }

    pub fn encoded(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        let (commits, sum) = bytes.split_at_mut(8);
        commits.copy_from_slice(&self.commits.to_be_bytes());
        sum.copy_from_slice(&self.sum.to_be_bytes());
        bytes
    }

    /// An entry is replaced, made (`before` is none) or removed (`after` is none).
    pub fn change(&mut self, key: &[u8], before: Option<&Bytes>, after: Option<&Bytes>) {
        let hash = |value: Option<&Bytes>| value.map_or(0, |value| hash(key, value));
        self.sum = self
            .sum
            .wrapping_sub(hash(before))
            .wrapping_add(hash(after));
    }
}

/// FNV-1a (64 bits): against accidents, not against anybody.
fn hash(key: &[u8], value: &[u8]) -> u64 {
    let length = (key.len() as u64).to_be_bytes();
    let bytes = length.iter().chain(key).chain(value);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Reads all and compares.
pub fn check(data: Arc<Data>) -> Result<(), KvError> {
    let path = data.path.clone();
    let snapshot = Snapshot::take(data);
    let Some(expected) = snapshot.value(KEY)? else {
        return Ok(());
    };
    if sum(&snapshot)? == Tip::decoded(&expected).sum {
        return Ok(());
    }
    Err(open::damaged(
        &path,
        "some of what was committed is not in it",
    ))
}

/// The tip of a store that has none: of what it holds.
pub fn counted(data: Arc<Data>) -> Result<Tip, KvError> {
    let sum = sum(&Snapshot::take(data))?;
    Ok(Tip { commits: 0, sum })
}

fn sum(snapshot: &Snapshot) -> Result<u64, KvError> {
    let mut found = Tip::default();
    let mut after: Option<Key> = None;
    loop {
        let scan = Scan {
            after: after.take(),
            limit: AT_ONCE,
            ..Scan::default()
        };
        let entries = snapshot.entries(&scan)?;
        for (key, value) in &entries {
            found.change(key, None, Some(value));
        }
        after = entries.last().map(|(key, _)| key.clone());
        if entries.len() < AT_ONCE {
            return Ok(found.sum);
        }
    }
}
