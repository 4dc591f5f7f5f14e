//! Commits that are too large for one transaction.
//!
//! ```text
//! redo/part/0 … n   the changes, in transactions of their own; nobody reads them
//! redo/commit       one transaction: from here on the commit has happened
//! data/…            the changes are made, part by part; each may be made again
//! redo/             deleted
//! ```
//!
//! The owner of the store is alone, and lets nobody read or write from the check of the expectations until all is done.
//! If it dies before `redo/commit`, nothing has happened, and the next owner deletes the parts. If it dies later, the
//! next owner makes the changes again before it reads anything ([`Shared::redo`]).

use std::sync::Arc;
use std::time::Duration;

use super::{BYTES, CHANGES};
use crate::store::kv::etcd::Shared;
use crate::store::kv::etcd::client::refusal::failed;
use crate::store::kv::etcd::client::wire::{Change, Delete, Put, Text};
use crate::store::kv::etcd::names::one;
use crate::store::kv::etcd::reads::Source as _;
use crate::store::kv::{Commit, KvError};

/// Bytes of the changes of one part. A part is kept as JSON with base64, which is a third longer.
const PART_BYTES: usize = BYTES / 2;
/// The pause after etcd has refused a change of a commit that has happened.
const PAUSE: Duration = Duration::from_secs(1);

impl Shared {
    /// In a task of its own: it must not end halfway because a caller has gone away.
    pub async fn commit_large(self: Arc<Self>, commit: Commit) -> Result<(), KvError> {
        let done = tokio::spawn(async move { self.large(&commit).await }).await;
        done.unwrap_or_else(|error| Err(failed("written", &error)))
    }

    pub async fn large(&self, commit: &Commit) -> Result<(), KvError> {
        let _alone = self.gate.write().await;
        let _changing = self.cache.change(commit);
        if !self.hold(&commit.expect).await? {
            return Err(KvError::Conflict);
        }
        let numbers = self.added(commit).await?;
        let parts = parts(self.changes(commit, &numbers));
        for (number, part) in parts.iter().enumerate() {
            self.put(self.names.redo_part(number), json(part)?).await?;
        }
        self.put(
            self.names.redo_commit(),
            parts.len().to_string().into_bytes(),
        )
        .await?;
        for part in &parts {
            self.must(part).await?;
        }
        self.must(&[self.no_redo()]).await
    }

    /// Ends what an earlier owner has begun.
    pub async fn redo(&self) -> Result<(), KvError> {
        let Some(parts) = self.value(self.names.redo_commit()).await? else {
            self.transact(&[], &[self.no_redo()]).await?;
            return Ok(());
        };
        let parts = std::str::from_utf8(&parts).ok();
        let parts: usize = parts
            .and_then(|digits| digits.parse().ok())
            .unwrap_or_default();
        tracing::info!(
            parts,
            "an earlier manager died within a large commit; it is completed"
        );
        for number in 0..parts {
            let part = self.value(self.names.redo_part(number)).await?;
            let part = part.ok_or_else(|| failed("opened", &"a part of a commit is missing"))?;
            let part: Vec<Change> =
                serde_json::from_slice(&part).map_err(|error| failed("opened", &error))?;
            self.transact(&[], &part).await?;
        }
        self.transact(&[], &[self.no_redo()]).await?;
        Ok(())
    }

    fn no_redo(&self) -> Change {
        let (key, end) = self.names.redo();
        Change::Delete(Delete {
            key,
            range_end: Some(end),
        })
    }

    async fn put(&self, key: Text, value: Vec<u8>) -> Result<(), KvError> {
        let put = Put {
            key,
            value: Text(value),
            lease: None,
        };
        self.transact(&[], &[Change::Put(put)]).await?;
        Ok(())
    }

    /// Makes a change of a commit that has happened, however long etcd has no room for it.
    async fn must(&self, changes: &[Change]) -> Result<(), KvError> {
        loop {
            match self.transact(&[], changes).await {
                Ok(_) => return Ok(()),
                Err(_) if self.owner.is_lost() => return Err(KvError::Unknown),
                Err(error) => {
                    tracing::error!(%error, "a commit that has happened is not completed yet: {error}");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    async fn value(&self, key: Text) -> Result<Option<Vec<u8>>, KvError> {
        let found = self.ask(&one(key)).await?;
        Ok(found.kvs.into_iter().next().map(|found| found.value.0))
    }
}

fn json(part: &[Change]) -> Result<Vec<u8>, KvError> {
    serde_json::to_vec(part).map_err(|error| failed("written", &error))
}

/// In order. A part has one change at least.
fn parts(changes: Vec<Change>) -> Vec<Vec<Change>> {
    let (mut parts, mut bytes) = (vec![Vec::new()], 0);
    for change in changes {
        let size = match &change {
            Change::Put(put) => put.key.0.len() + put.value.0.len(),
            Change::Delete(delete) => delete.key.0.len(),
        };
        let is_full = parts.last().is_some_and(|part: &Vec<Change>| {
            part.len() == CHANGES || (!part.is_empty() && bytes + size > PART_BYTES)
        });
        if is_full {
            parts.push(Vec::new());
            bytes = 0;
        }
        bytes += size;
        if let Some(part) = parts.last_mut() {
            part.push(change);
        }
    }
    parts
}
