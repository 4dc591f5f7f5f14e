//! Which managers use the store: each has a key bound to a lease of its own, while it has the store and while it waits for it.
//!
//! The keys are for people and for upgrades. Nothing that the store promises rests on them.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;

use super::super::{KvError, Registered};
use super::Shared;
use super::client::Client;
use super::client::refusal::failed;
use super::client::wire::{
    Change, Lease, LeaseAnswer, Number, Put, Range, RangeAnswer, Text, Txn, TxnAnswer,
};
use super::names::Names;
use super::ownership::{ANSWER, grant, renew};

/// A manager that has ended is known for this time.
const TTL: Duration = Duration::from_secs(10);
/// Keepalives in the time of one lease.
const BEATS: u32 = 4;

#[derive(Debug)]
pub struct Registration {
    own: Registered,
    lease: Mutex<Number>,
}

impl Registration {
    /// # Errors
    /// If etcd is unreachable.
    pub async fn begin(client: &Client, names: &Names, own: Registered) -> Result<Self, KvError> {
        let lease = registered(client, names, &own).await?;
        Ok(Self {
            own,
            lease: Mutex::new(lease),
        })
    }

    /// Keeps the key as long as the task runs.
    pub async fn keep(self: Arc<Self>, client: Arc<Client>, names: Names) {
        loop {
            tokio::time::sleep(TTL / BEATS).await;
            if let Err(error) = self.renewed(&client, &names).await {
                tracing::debug!(%error, "this manager is not registered at the moment: {error}");
            }
        }
    }

    async fn renewed(&self, client: &Client, names: &Names) -> Result<(), KvError> {
        let mut lease = self.lease.lock().await;
        if !renew(client, *lease, TTL / 2).await? {
            *lease = registered(client, names, &self.own).await?;
        }
        Ok(())
    }

    /// At the end of the process.
    pub async fn end(&self, client: &Client) {
        let lease = Lease {
            id: Some(*self.lease.lock().await),
            ttl: None,
        };
        let revoked: Result<LeaseAnswer, _> = client.call("v3/lease/revoke", &lease, ANSWER).await;
        if let Err(error) = revoked {
            tracing::debug!(%error, "the registration ends by itself: {error}");
        }
    }
}

async fn registered(client: &Client, names: &Names, own: &Registered) -> Result<Number, KvError> {
    let value = serde_json::to_vec(own).map_err(|error| failed("opened", &error))?;
    let lease = grant(client, TTL).await?;
    let txn = Txn {
        success: vec![Change::Put(Put {
            key: names.manager(lease),
            value: Text(value),
            lease: Some(lease),
        })],
        ..Txn::default()
    };
    let _: TxnAnswer = client.call("v3/kv/txn", &txn, ANSWER).await?;
    Ok(lease)
}

impl Shared {
    pub async fn registered(&self) -> Result<Vec<Registered>, KvError> {
        let (key, end) = self.names.managers();
        let all = Range {
            key,
            range_end: Some(end),
            ..Range::default()
        };
        let found: RangeAnswer = self.ask("v3/kv/range", &all).await?;
        let mut managers: Vec<Registered> = Vec::with_capacity(found.kvs.len());
        for entry in found.kvs {
            let manager = serde_json::from_slice(&entry.value.0);
            managers.push(manager.map_err(|error| failed("read", &error))?);
        }
        managers.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(managers)
    }
}
