//! Transactions whose outcome is always found out.
//!
//! A call that is not answered may have happened, or may happen later. So each transaction goes through a slot: it
//! compares the revision of the slot's key, and puts an id of its own there. The same transaction is sent until it is
//! answered: if an earlier try has happened, the slot has changed and holds the transaction's own id; and no earlier
//! try can happen any more once the slot has changed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::store::kv::KvError;
use crate::store::kv::etcd::Shared;
use crate::store::kv::etcd::client::refusal::failed;
use crate::store::kv::etcd::client::wire::{
    Change, Compare, KeyValue, Number, Put, Read, Target, Text, Txn, TxnAnswer,
};
use crate::store::kv::etcd::names::one;
use crate::store::kv::etcd::reads::Source as _;

/// Transactions that are under way at once. etcd makes them durable together.
const SLOTS: usize = 64;
/// After this time without an answer, the loss of the store is looked at.
const TRY: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub struct Slots {
    free: Mutex<Vec<Slot>>,
    room: Semaphore,
    /// Of the transactions of this process.
    next: AtomicU64,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    number: usize,
    /// At which it was written last; none if that has to be read.
    revision: Option<Number>,
}

/// A slot in use. It goes back with an unknown revision, unless its outcome is known.
struct InUse<'a> {
    slots: &'a Slots,
    slot: Slot,
    _room: SemaphorePermit<'a>,
}

impl Slots {
    pub fn new() -> Self {
        let slot = |number| Slot {
            number,
            revision: None,
        };
        Self {
            free: Mutex::new((0..SLOTS).map(slot).collect()),
            room: Semaphore::new(SLOTS),
            next: AtomicU64::new(0),
        }
    }

    async fn take(&self) -> Result<InUse<'_>, KvError> {
        let room = self.room.acquire().await;
        let room = room.map_err(|error| failed("written", &error))?;
        let slot = self.free().pop();
        let slot = slot.ok_or_else(|| failed("written", &"no slot is free"))?;
        Ok(InUse {
            slots: self,
            slot,
            _room: room,
        })
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Vec<Slot>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        self.slots.free().push(self.slot);
    }
}

impl Shared {
    /// Makes the changes if the keys are as compared: the revision at which it did. Tries until that is known.
    ///
    /// # Errors
    /// [`KvError::Unknown`] only if another manager has the store meanwhile.
    pub async fn transact(
        &self,
        compare: &[Compare],
        changes: &[Change],
    ) -> Result<Option<Number>, KvError> {
        self.owner.check().await?;
        let mut used = self.slots.take().await?;
        let id = format!(
            "{}-{}",
            self.owner.fence.0,
            self.slots.next.fetch_add(1, Ordering::Relaxed)
        );
        loop {
            let known = used.slot.revision.take();
            let revision = match known {
                Some(revision) => revision,
                None => self.slot_revision(used.slot.number).await?,
            };
            let txn = self.txn(used.slot.number, revision, &id, compare, changes);
            let answer = self.answered(&txn).await?;
            self.freshness.see(answer.header.revision);
            if answer.succeeded {
                used.slot.revision = Some(answer.header.revision);
                return Ok(used.slot.revision);
            }
            let [slot, owner] = two_reads(answer);
            let is_own = slot
                .as_ref()
                .is_some_and(|slot| slot.value.0 == id.as_bytes());
            let found = slot.map_or(Number(0), |slot| slot.mod_revision);
            if is_own {
                used.slot.revision = Some(found);
                return Ok(used.slot.revision);
            }
            if owner.is_none_or(|owner| owner.create_revision != self.owner.fence) {
                self.owner.lose("another manager has taken it over");
                return Err(self.owner.lost().await);
            }
            // Otherwise an earlier user's try came late.
            if found == revision {
                used.slot.revision = Some(found);
                return Ok(None);
            }
        }
    }

    fn txn(
        &self,
        slot: usize,
        revision: Number,
        id: &str,
        compare: &[Compare],
        changes: &[Change],
    ) -> Txn {
        let (slot, owner) = (self.names.slot(slot), self.names.owner());
        let is_next = Compare {
            key: slot.clone(),
            target: Target::Modified {
                mod_revision: revision,
            },
        };
        let mark = Change::Put(Put {
            key: slot.clone(),
            value: Text(id.as_bytes().to_vec()),
            lease: None,
        });
        let own = [is_next, self.owner.compare(&self.names)];
        let reads = [slot, owner].map(|key| Read {
            request_range: one(key),
        });
        Txn {
            compare: own.into_iter().chain(compare.iter().cloned()).collect(),
            success: changes.iter().cloned().chain([mark]).collect(),
            failure: reads.to_vec(),
        }
    }

    async fn slot_revision(&self, number: usize) -> Result<Number, KvError> {
        let found = self.ask(&one(self.names.slot(number))).await?;
        Ok(found
            .kvs
            .first()
            .map_or(Number(0), |slot| slot.mod_revision))
    }

    /// Sends it until it is answered. Only the first try may be refused: later ones say nothing of those before.
    async fn answered(&self, txn: &Txn) -> Result<TxnAnswer, KvError> {
        let mut is_first = true;
        loop {
            let answer = self.client.call(txn, TRY).await;
            match answer {
                Ok(answer) => return Ok(answer),
                Err(KvError::Unreachable { .. }) => {}
                Err(error) if is_first => return Err(error),
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
            is_first = false;
            if self.owner.is_lost() {
                return Err(KvError::Unknown);
            }
        }
    }
}

/// What the slot and the owner's key are, of a transaction that was not made.
fn two_reads(answer: TxnAnswer) -> [Option<KeyValue>; 2] {
    let mut reads = answer.responses.into_iter().map(|part| {
        let found = part.response_range.unwrap_or_default();
        found.kvs.into_iter().next()
    });
    [reads.next().flatten(), reads.next().flatten()]
}
