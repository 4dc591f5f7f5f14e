//! What is asked of etcd about the owner's key and its lease. All of it is safe to ask twice.

use std::time::Duration;

use super::super::client::Client;
use super::super::client::refusal::failed;
use super::super::client::wire::{
    Change, Compare, Grant, KeepAlive, KeyValue, Number, Put, Read, Target, Text, Txn,
};
use super::super::names::{Names, one};
use super::{ANSWER, KvError, Owner};

/// The owner's key, if there is one.
pub async fn owner(client: &Client, names: &Names) -> Result<Option<KeyValue>, KvError> {
    let key = one(names.owner());
    let found = client.first(&key, ANSWER).await?;
    Ok(found.kvs.into_iter().next())
}

/// A lease of this time.
pub async fn grant(client: &Client, ttl: Duration) -> Result<Number, KvError> {
    let seconds = i64::try_from(ttl.as_secs()).unwrap_or(i64::MAX);
    let lease = Grant {
        ttl: Number(seconds),
    };
    Ok(client.first(&lease, ANSWER).await?.id)
}

/// The fence, if no other manager was first.
pub async fn create(
    client: &Client,
    names: &Names,
    lease: Number,
    own: &Owner,
) -> Result<Option<Number>, KvError> {
    let value = serde_json::to_vec(own).map_err(|error| failed("opened", &error))?;
    let txn = Txn {
        compare: vec![Compare {
            key: names.owner(),
            target: Target::Created {
                create_revision: Number(0),
            },
        }],
        success: vec![Change::Put(Put {
            key: names.owner(),
            value: Text(value),
            lease: Some(lease),
        })],
        failure: vec![Read {
            request_range: one(names.owner()),
        }],
    };
    let answer = client.first(&txn, ANSWER).await?;
    if answer.succeeded {
        return Ok(Some(answer.header.revision));
    }
    // A try that was not answered may have made it.
    let found = answer.responses.into_iter().next();
    let found = found.and_then(|part| part.response_range);
    let own = found.into_iter().flat_map(|range| range.kvs);
    let mut own = own.filter(|owner| owner.lease == lease);
    Ok(own.next().map(|owner| owner.create_revision))
}

/// Whether the lease is alive.
pub async fn renew(client: &Client, lease: Number, within: Duration) -> Result<bool, KvError> {
    let answer = client.first(&KeepAlive { lease }, within).await?;
    Ok(answer.ttl.0 > 0)
}
