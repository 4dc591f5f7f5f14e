//! Requests with an idempotency key, and the operations that they started, or their answers.
//!
//! A key is remembered for [`KEPT`], from the commit that accepts the operation, or that has the answer.

use common::model::OperationId;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::answers::Answer;
use crate::store::kv::{KvError, Scan};
use crate::store::{Changes, Store, StoreError, keys, read};

/// For this time, the same key means the same request.
pub const KEPT: SignedDuration = SignedDuration::from_hours(24);
/// The number of expired keys that a new one deletes. More than one, so that their number shrinks.
const FORGOTTEN_AT_ONCE: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    pub key: String,
    /// A name that no operation has, if it started none: managers of earlier builds read the record too.
    pub operation: OperationId,
    /// A digest of the whole request.
    pub digest: String,
    pub at: Timestamp,
    /// Of a request that started no operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
}

/// The request with this key, unless it has expired.
pub async fn find(store: &Store, key: &str, now: Timestamp) -> Result<Option<Request>, StoreError> {
    let found: Option<Request> = store.get(keys::request(key)).await?;
    Ok(found.filter(|request| !is_old(request, now)))
}

/// Remembers the request. It conflicts with another request with the same key.
pub async fn add(
    store: &Store,
    changes: &mut Changes,
    request: &Request,
) -> Result<(), StoreError> {
    forget_old(store, changes, request.at).await?;
    let key = keys::request(&request.key);
    let before = store.kv.get(&key).await?;
    if let Some(entry) = &before {
        let old: Request = read(&key, entry)?;
        if !is_old(&old, request.at) {
            return Err(KvError::Conflict.into());
        }
        changes.delete(keys::request_at(old.at.as_second(), &old.key));
    }
    // Deletes win over puts, and an expired key may equal this one.
    changes.commit.delete.retain(|deleted| *deleted != key);
    changes.expect(key.clone(), before);
    changes.put(
        keys::request_at(request.at.as_second(), &request.key),
        &request.key,
    )?;
    changes.put(key, request)
}

fn is_old(request: &Request, now: Timestamp) -> bool {
    now.duration_since(request.at) >= KEPT
}

async fn forget_old(
    store: &Store,
    changes: &mut Changes,
    now: Timestamp,
) -> Result<(), StoreError> {
    let oldest = Scan {
        prefix: keys::requests_by_time(),
        limit: FORGOTTEN_AT_ONCE,
        ..Scan::default()
    };
    for (index, bytes) in store.kv.scan(oldest).await? {
        let key = keys::request(&read::<String>(&index, &bytes)?);
        let request: Option<Request> = store.get(key.clone()).await?;
        if request.is_none_or(|request| is_old(&request, now)) {
            changes.delete(index);
            changes.delete(key);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::store::kv::MemoryKv;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    async fn add_at(store: &Store, key: &str, second: i64) {
        let request = Request {
            key: key.to_owned(),
            operation: OperationId::parse("op-1").unwrap(),
            digest: second.to_string(),
            at: at(second),
            answer: None,
        };
        let mut changes = Changes::default();
        add(store, &mut changes, &request).await.unwrap();
        store.commit(changes).await.unwrap();
    }

    #[tokio::test]
    async fn a_key_is_known_for_a_day_and_then_may_be_used_anew() {
        let (store, day) = (
            Store::open(Arc::new(MemoryKv::default())).await.unwrap(),
            24 * 60 * 60,
        );
        add_at(&store, "k", 1_000).await;
        let known = |second| find(&store, "k", at(second));
        assert!(known(1_000 + day - 1).await.unwrap().is_some());
        assert_eq!(known(1_000 + day).await.unwrap(), None);
        add_at(&store, "k", 1_000 + day).await;
        let again = known(1_001 + day).await.unwrap().unwrap();
        assert_eq!(again.at, at(1_000 + day));
    }

    #[tokio::test]
    async fn new_keys_make_old_ones_forgotten() {
        let store = Store::open(Arc::new(MemoryKv::default())).await.unwrap();
        for number in 0..20 {
            add_at(&store, &format!("old{number}"), 1_000 + number).await;
        }
        for number in 0..4 {
            add_at(&store, &format!("new{number}"), 1_000_000 + number).await;
        }
        let left = store.all(keys::requests_by_time()).await.unwrap();
        assert_eq!(left.len(), 4);
        let requests = store.all(b"request\0".to_vec()).await.unwrap();
        assert_eq!(requests.len(), 4);
    }
}
