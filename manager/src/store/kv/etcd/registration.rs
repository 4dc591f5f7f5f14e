//! Which managers use the store: each has a key bound to a lease of its own, while it has the store and while it waits for it.
//!
//! The keys in etcd are for people, for upgrades and for rotations. Nothing that the store promises rests on them. They say
//! which of the store's keys each manager has in its file, which is read again from time to time.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;

use super::super::{KvError, Registered, SealedKv};
use super::Shared;
use super::client::Client;
use super::client::refusal::failed;
use super::client::wire::{Change, Number, Put, Range, Revoke, Text, Txn};
use super::names::{Names, one};
use super::ownership::{ANSWER, Candidate, Held, grant, renew};
use super::reads::Source as _;

/// A manager that has ended is known for this time.
const TTL: Duration = Duration::from_secs(10);
/// The time between keepalives, and between looks at the key file.
pub const REGISTRATION_BEAT: Duration = Duration::from_millis(2500);

#[derive(Debug)]
pub struct Registration {
    keys: Option<Held>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    own: Registered,
    lease: Number,
    /// Whether this manager has the key that seals the store.
    has_key: bool,
}

impl Registration {
    /// # Errors
    /// If etcd is unreachable.
    pub async fn begin(
        client: &Client,
        names: &Names,
        candidate: &Candidate,
    ) -> Result<Self, KvError> {
        let keys = candidate.keys.clone();
        let mut own = candidate.registered();
        own.keys = listed(keys.as_ref());
        let lease = registered(client, names, &own).await?;
        Ok(Self {
            keys,
            state: Mutex::new(State {
                own,
                lease,
                has_key: true,
            }),
        })
    }

    /// Keeps the key as long as the task runs.
    pub async fn keep(self: Arc<Self>, client: Arc<Client>, names: Names) {
        loop {
            tokio::time::sleep(REGISTRATION_BEAT).await;
            if let Err(error) = self.renewed(&client, &names).await {
                tracing::debug!(%error, "this manager is not registered at the moment: {error}");
            }
        }
    }

    async fn renewed(&self, client: &Client, names: &Names) -> Result<(), KvError> {
        let mut state = self.state.lock().await;
        let own = Registered {
            keys: listed(self.keys.as_ref()),
            ..state.own.clone()
        };
        if !renew(client, state.lease, TTL / 2).await? {
            state.lease = registered(client, names, &own).await?;
        } else if own != state.own {
            put(client, names, &own, state.lease).await?;
        }
        state.own = own;
        let Some(Held { ring, mark }) = &self.keys else {
            return Ok(());
        };
        let found = client.call(&one(names.entry(mark)), ANSWER).await?;
        let mut values = found.kvs.iter().map(|found| &found.value.0);
        let has_key = values.all(|value| SealedKv::prefer(ring, value));
        if state.has_key && !has_key {
            tracing::error!(
                "the store is sealed with a key that --credential-key {0} does not have, so this manager cannot take it over: copy the key file of another manager to {0}",
                ring.place()
            );
        }
        state.has_key = has_key;
        Ok(())
    }

    /// At the end of the process.
    pub async fn end(&self, client: &Client) {
        let lease = self.state.lock().await.lease;
        if let Err(error) = client.call(&Revoke { lease }, ANSWER).await {
            tracing::debug!(%error, "the registration ends by itself: {error}");
        }
    }
}

/// The ids of the keys in the key file. None if it cannot be read: then this manager cannot take the store over.
fn listed(keys: Option<&Held>) -> Vec<String> {
    let found = keys.map(|held| held.ring.reread());
    let found = found.transpose().unwrap_or_else(|error| {
        tracing::warn!(%error, "the key file cannot be read: {error}");
        None
    });
    let ids = found.unwrap_or_default();
    ids.iter().map(ToString::to_string).collect()
}

async fn registered(client: &Client, names: &Names, own: &Registered) -> Result<Number, KvError> {
    let lease = grant(client, TTL).await?;
    put(client, names, own, lease).await?;
    Ok(lease)
}

async fn put(
    client: &Client,
    names: &Names,
    own: &Registered,
    lease: Number,
) -> Result<(), KvError> {
    let value = serde_json::to_vec(own).map_err(|error| failed("opened", &error))?;
    let txn = Txn {
        success: vec![Change::Put(Put {
            key: names.manager(lease),
            value: Text(value),
            lease: Some(lease),
        })],
        ..Txn::default()
    };
    client.call(&txn, ANSWER).await.map(drop)
}

impl Shared {
    pub async fn registered(&self) -> Result<Vec<Registered>, KvError> {
        let (key, end) = self.names.managers();
        let all = Range {
            key,
            range_end: Some(end),
            ..Range::default()
        };
        let found = self.ask(&all).await?;
        let mut managers: Vec<Registered> = Vec::with_capacity(found.kvs.len());
        for entry in found.kvs {
            let manager = serde_json::from_slice(&entry.value.0);
            managers.push(manager.map_err(|error| failed("read", &error))?);
        }
        managers.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(managers)
    }
}
