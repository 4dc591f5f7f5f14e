//! What the store should hold: kept in it, changed by every commit, and compared with what it does hold.
//!
//! sled takes damage in its log for a crash at that place, and goes on without what comes after, or without some of
//! it. Every page that it still has is whole, but nothing shows that others are missing. So each commit also writes
//! how many there were, and a sum over all entries; and the tip of the last one that was acknowledged is kept in a
//! file beside sled's ([`super::acknowledged`]).

use std::ops::Bound::{Included, Unbounded};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use ring::rand::{SecureRandom as _, SystemRandom};

use super::super::{Key, KvError, Order, Pace};
use super::loss::{self, Loss};
use super::{Data, Watcher, acknowledged, blocking, failed};

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
    pub sum: u64,
    /// Which store: a random number. 0 where a manager wrote it that knew of none.
    pub store: u64,
}

/// Bytes of a tip in the store.
const TIP_BYTES: usize = 24;

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
            store: number(bytes.get(16..TIP_BYTES)),
        }
    }

    pub fn encoded(self) -> [u8; TIP_BYTES] {
        let mut bytes = [0; TIP_BYTES];
        let numbers = [self.commits, self.sum, self.store];
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_be_bytes());
        }
        bytes
    }

    /// No commits, and a store that is no other.
    pub fn of_new_store() -> Result<Self, KvError> {
        let mut bytes = [0; 8];
        let random = SystemRandom::new().fill(&mut bytes);
        random.map_err(|_| failed("opened", &"the system gives no random numbers"))?;
        Ok(Self {
            store: u64::from_be_bytes(bytes).max(1),
            ..Self::default()
        })
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
pub fn hash(key: &[u8], value: &[u8]) -> u64 {
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

    /// Sums up some more. After the last: the sum, and the tip that the store has.
    ///
    /// Each part begins with the last entry of the one before, and the first that ends early is the last: on some
    /// damage sled's iterators end before a gap, with no error, and would not if they began behind it.
    fn part(&self, data: &Data) -> Result<Option<(u64, Option<Tip>)>, KvError> {
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
        Ok(Some((passed.found.sum, tip)))
    }

    fn passed(&self) -> MutexGuard<'_, Passed> {
        self.passed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads all and compares it with the log's tip, and this with what was acknowledged.
pub async fn check(data: Arc<Data>, pace: Pace) -> Result<(), KvError> {
    let sweep = Sweep::begin(&data);
    // Read first: the log goes ahead of it.
    let acknowledged = acknowledged::read(&data.path)?;
    loop {
        let begun = Instant::now();
        let part = |(sweep, data): (Arc<Sweep>, Arc<Data>)| sweep.part(&data);
        if let Some((found, tip)) = blocking(&data, (sweep.clone(), data.clone()), part).await? {
            let loss = match tip {
                Some(tip) if tip.sum != found => Some(Loss::of_entries()),
                tip => Loss::between(acknowledged, tip),
            };
            let refused = |loss: Loss| loss.refused(&data.path, loss::token(acknowledged, tip));
            return loss.map_or(Ok(()), |loss| Err(refused(loss)));
        }
        if pace == Pace::Gentle {
            tokio::time::sleep(begun.elapsed() * REST).await;
        }
    }
}

/// The tip with the sum of what the store holds, whatever its own tip says.
pub fn counted(data: &Data) -> Result<Tip, KvError> {
    let sweep = Sweep::begin(data);
    loop {
        if let Some((sum, tip)) = sweep.part(data)? {
            return Ok(Tip {
                sum,
                ..tip.unwrap_or_default()
            });
        }
    }
}
