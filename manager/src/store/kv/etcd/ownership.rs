//! Which manager has the store: the one whose key is there, bound to a lease that it keeps alive.
//!
//! A lease says only that its owner may be alive. What keeps a paused manager from writing is the fence: the revision at
//! which the owner's key was created, which every transaction compares ([`super::commits::slots`]).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::Instant;

use super::super::KvError;
use super::client::Client;
use super::client::refusal::failed;
use super::client::wire::{
    Change, Compare, Lease, LeaseAnswer, Number, Put, RangeAnswer, Read, Streamed, Target, Text,
    Txn, TxnAnswer,
};
use super::names::{Names, one};

/// The end of a lease is awaited in steps of this.
const POLL: Duration = Duration::from_millis(250);
/// How long the store may take to answer before it counts as unreachable.
pub const ANSWER: Duration = Duration::from_secs(10);
/// A manager stops reading so much before its lease can end.
const MARGIN: Duration = Duration::from_secs(1);
/// Keepalives in the time of one lease.
const BEATS: u32 = 4;

/// The manager that has the store, as its key says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The host and the process, for people.
    pub name: String,
    /// Where other managers reach its API.
    #[serde(default)]
    pub url: Option<String>,
    /// Where other managers reach its service broker.
    #[serde(default)]
    pub broker: Option<String>,
}

impl Owner {
    /// This process.
    pub fn this(url: Option<String>, broker: Option<String>) -> Self {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let name = format!("{} (process {})", host.trim(), std::process::id());
        Self { name, url, broker }
    }

    /// The value of the key. Managers of earlier builds wrote their name alone.
    fn read(value: &[u8]) -> Self {
        serde_json::from_slice(value).unwrap_or_else(|_| Self {
            name: String::from_utf8_lossy(value).into_owned(),
            url: None,
            broker: None,
        })
    }
}

/// A manager that waits for the store, and what it knows of the one that has it.
#[derive(Debug)]
pub struct Candidate {
    own: Owner,
    owner: watch::Sender<Option<Owner>>,
}

impl Candidate {
    pub fn new(own: Owner) -> Self {
        Self {
            own,
            owner: watch::Sender::new(None),
        }
    }

    /// The manager that has the store, from time to time another one.
    pub fn owners(&self) -> watch::Receiver<Option<Owner>> {
        self.owner.subscribe()
    }

    /// Names this manager, when it has the store and serves.
    pub fn announce(&self) {
        self.owner.send_replace(Some(self.own.clone()));
    }

    fn sees(&self, owner: Option<&Owner>) {
        self.owner.send_if_modified(|seen| {
            let is_new = seen.as_ref() != owner;
            if is_new {
                *seen = owner.cloned();
            }
            is_new
        });
    }
}

#[derive(Debug)]
pub struct Ownership {
    lease: Number,
    /// The revision at which the owner's key was created.
    pub fence: Number,
    ttl: Duration,
    /// Nobody else has the store before.
    until: Mutex<Instant>,
    lost: watch::Sender<Option<KvError>>,
}

impl Ownership {
    /// Waits until no other manager has the store, and takes it.
    ///
    /// # Errors
    /// If etcd is unreachable before another manager was seen to have the store. After that, it is waited for.
    pub async fn take(
        client: &Client,
        names: &Names,
        ttl: Duration,
        candidate: &Candidate,
    ) -> Result<Self, KvError> {
        let mut waits_for = None;
        loop {
            match Self::attempt(client, names, ttl, candidate, &mut waits_for).await {
                Ok(Some(taken)) => return Ok(taken),
                Ok(None) => {}
                Err(error @ KvError::Unreachable { .. }) if waits_for.is_some() => {
                    tracing::warn!(%error, "it is not known which manager has the store: {error}");
                }
                Err(error) => return Err(error),
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Takes the store if no manager has it.
    async fn attempt(
        client: &Client,
        names: &Names,
        ttl: Duration,
        candidate: &Candidate,
        waits_for: &mut Option<Owner>,
    ) -> Result<Option<Self>, KvError> {
        let begun = Instant::now();
        let found = owner(client, names).await?;
        candidate.sees(found.as_ref());
        if let Some(owner) = found {
            if waits_for.as_ref() != Some(&owner) {
                let name = &owner.name;
                tracing::info!(
                    owner = name,
                    "manager {name} has the store; this one passes requests on to it, and takes over when it ends"
                );
                *waits_for = Some(owner);
            }
            return Ok(None);
        }
        let lease = grant(client, ttl).await?;
        let fence = create(client, names, lease, &candidate.own).await?;
        Ok(fence.map(|fence| Self {
            lease,
            fence,
            ttl,
            until: Mutex::new(begun + ttl - MARGIN.min(ttl / 2)),
            lost: watch::Sender::new(None),
        }))
    }

    /// What every transaction compares.
    pub fn compare(&self, names: &Names) -> Compare {
        Compare {
            key: names.owner(),
            target: Target::Created {
                create_revision: self.fence,
            },
        }
    }

    /// Whether nobody else can have the store now.
    pub fn check(&self) -> Result<(), KvError> {
        if let Some(error) = &*self.lost.borrow() {
            return Err(error.clone());
        }
        let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
        match Instant::now() < until {
            true => Ok(()),
            false => Err(KvError::Unreachable {
                reason: "etcd has not renewed this manager's lease in time".to_owned(),
            }),
        }
    }

    /// Another manager has the store, or may have it.
    pub fn lose(&self, reason: &str) {
        self.lost.send_if_modified(|lost| {
            let is_first = lost.is_none();
            lost.get_or_insert(KvError::TakenOver {
                reason: reason.to_owned(),
            });
            is_first
        });
    }

    pub fn is_lost(&self) -> bool {
        self.lost.borrow().is_some()
    }

    /// Waits until the store is lost.
    pub async fn lost(&self) -> KvError {
        let mut lost = self.lost.subscribe();
        let found = lost.wait_for(Option::is_some).await;
        match found.ok().and_then(|error| error.clone()) {
            Some(error) => error,
            None => std::future::pending().await,
        }
    }

    /// Keeps the lease alive for as long as it can.
    pub async fn keep(self: Arc<Self>, client: Arc<Client>) {
        while !self.is_lost() {
            tokio::time::sleep(self.ttl / BEATS).await;
            let begun = Instant::now();
            match renew(&client, self.lease, self.ttl / 2).await {
                Ok(true) => {
                    let mut until = self.until.lock().unwrap_or_else(PoisonError::into_inner);
                    *until = begun + self.ttl - MARGIN.min(self.ttl / 2);
                }
                Ok(false) => self.lose("its lease has ended: etcd or this manager had stopped"),
                Err(error) => {
                    tracing::warn!(%error, "the lease on the store is not renewed yet: {error}");
                }
            }
        }
    }

    /// Gives the store up, so that the next manager need not wait for the lease to end.
    pub async fn release(&self, client: &Client) {
        self.lose("it has given it up");
        let lease = Lease {
            id: Some(self.lease),
            ttl: None,
        };
        let revoked: Result<LeaseAnswer, _> = client.call("v3/lease/revoke", &lease, ANSWER).await;
        if let Err(error) = revoked {
            tracing::warn!(%error, "the lease on the store ends by itself: {error}");
        }
    }
}

async fn owner(client: &Client, names: &Names) -> Result<Option<Owner>, KvError> {
    let found: RangeAnswer = client
        .call("v3/kv/range", &one(names.owner()), ANSWER)
        .await?;
    Ok(found.kvs.first().map(|owner| Owner::read(&owner.value.0)))
}

async fn grant(client: &Client, ttl: Duration) -> Result<Number, KvError> {
    let seconds = i64::try_from(ttl.as_secs()).unwrap_or(i64::MAX);
    let lease = Lease {
        id: None,
        ttl: Some(Number(seconds)),
    };
    let granted: LeaseAnswer = client.call("v3/lease/grant", &lease, ANSWER).await?;
    Ok(granted.id)
}

/// The fence, if no other manager was first.
async fn create(
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
    let answer: TxnAnswer = client.call("v3/kv/txn", &txn, ANSWER).await?;
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
async fn renew(client: &Client, lease: Number, within: Duration) -> Result<bool, KvError> {
    let lease = Lease {
        id: Some(lease),
        ttl: None,
    };
    let answer: Streamed<LeaseAnswer> = client.call("v3/lease/keepalive", &lease, within).await?;
    Ok(answer.result.ttl.0 > 0)
}
