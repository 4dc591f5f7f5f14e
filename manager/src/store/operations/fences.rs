//! The numbers of fences. A process that takes an operation over gets a higher number than every process before, so
//! that late writes of an older one can be recognised.
//!
//! The highest number is in the store, and the next numbers are counted in memory: one process at a time has the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;

use crate::store::{Changes, Store, StoreError, keys};

/// Concurrent commits may be written in another order than their numbers. After a start, the numbers begin this much
/// higher than the stored one.
const GAP: u64 = 1 << 20;
/// The numbers of one second. A restored store continues above the numbers that it used after the backup.
const IN_A_SECOND: u32 = 20;

/// A take of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Take {
    /// The store that issued the number.
    pub store: String,
    pub number: u64,
}

/// Attempts of one take whose jobs may still write: from the first to the last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempts {
    /// The number of the take.
    pub number: u64,
    pub first: u32,
    pub last: u32,
}

impl Take {
    /// The take's next job has this attempt, and all jobs before it have ended.
    pub fn next(&self, attempt: u32) -> Attempts {
        Attempts {
            number: self.number,
            first: attempt,
            last: attempt,
        }
    }
}

/// The last numbers of an open store. Read with the first use.
#[derive(Debug, Clone, Default)]
pub struct Fences(Arc<OnceCell<Counter>>);

#[derive(Debug)]
struct Counter {
    store: String,
    next: AtomicU64,
}

/// The next number. It counts once the changes are committed.
pub async fn take(store: &Store, changes: &mut Changes) -> Result<Take, StoreError> {
    let counter = store.fences.0.get_or_try_init(|| read(store)).await?;
    let take = Take {
        store: counter.store.clone(),
        number: counter.next.fetch_add(1, Ordering::Relaxed),
    };
    changes.put(keys::fence(), &take)?;
    Ok(take)
}

async fn read(store: &Store) -> Result<Counter, StoreError> {
    let stored: Option<Take> = store.get(keys::fence()).await?;
    let (store, last) = match stored {
        Some(take) => (take.store, take.number),
        None => (uuid::Uuid::now_v7().simple().to_string(), 0),
    };
    let seconds = u64::try_from(Timestamp::now().as_second()).unwrap_or_default();
    let next = last.saturating_add(GAP).max(seconds << IN_A_SECOND);
    Ok(Counter {
        store,
        next: AtomicU64::new(next),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::kv::MemoryKv;

    async fn taken(store: &Store) -> Take {
        let mut changes = Changes::default();
        let take = take(store, &mut changes).await.unwrap();
        store.commit(changes).await.unwrap();
        take
    }

    #[tokio::test]
    async fn each_take_is_higher_than_all_before_also_after_a_restart() {
        let kv = Arc::new(MemoryKv::default());
        let mut last = None;
        for _ in 0..3 {
            let store = Store::open(kv.clone()).await.unwrap();
            for _ in 0..3 {
                let take = taken(&store).await;
                assert!(Some(take.number) > last);
                last = Some(take.number);
            }
        }
    }

    #[tokio::test]
    async fn numbers_go_up_though_the_clock_goes_back_and_their_commits_change_places() {
        let kv = Arc::new(MemoryKv::default());
        let store = Store::open(kv.clone()).await.unwrap();
        let ahead = Take {
            store: "s".to_owned(),
            number: 1 << 52,
        };
        let mut changes = Changes::default();
        changes.put(keys::fence(), &ahead).unwrap();
        store.commit(changes).await.unwrap();
        let take = taken(&store).await;
        assert_eq!(take.store, ahead.store);
        assert_eq!(take.number, ahead.number + GAP);
    }
}
