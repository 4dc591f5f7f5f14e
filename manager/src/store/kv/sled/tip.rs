//! What the store should hold: kept in it, changed by every commit, and compared with what it does hold.
//!
//! sled takes damage in its log for a crash at that place, and goes on without what comes after, or without some of
//! it. Every page that it still has is whole, but nobody can tell that others are missing. So each commit also writes
//! how many there were, and a sum over all entries; and the number of the last one that was acknowledged is kept in a
//! file beside sled's ([`super::files`]).

use std::ops::Bound::{Included, Unbounded};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;

use super::super::{Key, KvError, Order, Pace};
use super::{Data, Watcher, blocking, open};

/// The key of the tip. No other begins with a zero byte.
pub const KEY: &[u8] = b"\0tip";
/// Entries that are read at once, two at least: commits wait as long.
const AT_ONCE: usize = 128;
/// At a gentle pace, the rest after each part is so many times as long.
const REST: u32 = 19;

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

/// What was summed up of a store so far, corrected by what is committed meanwhile.
#[derive(Debug, Default)]
struct Sweep {
    passed: Mutex<Passed>,
}

#[derive(Debug, Default)]
struct Passed {
    /// The last key; all up to it are in the sum.
    last: Option<Key>,
    found: Tip,
}

impl Watcher for Sweep {
    fn changes(&self, key: &Key, before: Option<&Bytes>, after: Option<&Bytes>) {
        let mut passed = self.passed();
        if passed.last.as_ref().is_some_and(|last| key <= last) {
            passed.found.change(key, before, after);
        }
    }
}

impl Sweep {
    fn begin(data: &Data) -> Arc<Self> {
        let sweep = Arc::<Self>::default();
        let watcher: Arc<dyn Watcher> = sweep.clone();
        data.watch(Arc::downgrade(&watcher));
        sweep
    }

    /// Sums up some more. After the last: the sum, and the one that the store says it has.
    ///
    /// Each part begins with the last entry of the one before, and the first that ends early is the last: on some
    /// damage sled's iterators end before a gap, with no error, and would not if they began behind it.
    fn part(&self, data: &Data) -> Result<Option<(u64, Option<u64>)>, KvError> {
        let _whole = data.whole();
        let mut passed = self.passed();
        let from = passed.last.clone().map_or(Unbounded, Included);
        let entries = data.entries((from, Unbounded), Order::Ascending, AT_ONCE, |_| true)?;
        let is_last = entries.len() < AT_ONCE;
        for (key, value) in entries {
            if passed.last.as_ref().is_none_or(|last| key > *last) {
                passed.found.change(&key, None, Some(&value));
                passed.last = Some(key);
            }
        }
        if !is_last {
            return Ok(None);
        }
        let tip = Tip::read(&data.db).map_err(|error| data.failed("read", &error))?;
        Ok(Some((passed.found.sum, tip.map(|tip| tip.sum))))
    }

    fn passed(&self) -> MutexGuard<'_, Passed> {
        self.passed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads all and compares.
pub async fn check(data: Arc<Data>, pace: Pace) -> Result<(), KvError> {
    let sweep = Sweep::begin(&data);
    loop {
        let begun = Instant::now();
        let part = |(sweep, data): (Arc<Sweep>, Arc<Data>)| sweep.part(&data);
        match blocking((sweep.clone(), data.clone()), part).await? {
            None => {}
            Some((found, Some(told))) if found != told => {
                let reason = "some of what was committed is not in it";
                return Err(open::damaged(&data.path, reason));
            }
            Some(_) => return Ok(()),
        }
        if pace == Pace::Gentle {
            tokio::time::sleep(begun.elapsed() * REST).await;
        }
    }
}

/// The tip of a store that has none: of what it holds.
pub fn counted(data: &Data) -> Result<Tip, KvError> {
    let sweep = Sweep::begin(data);
    loop {
        if let Some((sum, _)) = sweep.part(data)? {
            return Ok(Tip { commits: 0, sum });
        }
    }
}
