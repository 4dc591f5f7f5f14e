//! Which manager has the store: the one whose key is there, bound to a lease that it keeps alive.
//!
//! A lease says only that its owner may be alive. What keeps a paused manager from writing is the fence: the revision at
//! which the owner's key was created, which every transaction compares ([`super::slots`]).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::super::KvError;
use super::client::Client;
use super::names::{Names, one};
use super::wire::{
    Change, Compare, Lease, LeaseAnswer, Number, Put, RangeAnswer, Streamed, Target, Text, Txn,
    TxnAnswer,
};

/// The end of a lease is awaited in steps of this.
const POLL: Duration = Duration::from_millis(250);
/// How long the store may take to answer before it counts as unreachable.
pub const ANSWER: Duration = Duration::from_secs(10);
/// A manager stops reading so much before its lease can end.
const MARGIN: Duration = Duration::from_secs(1);
/// Keepalives in the time of one lease.
const BEATS: u32 = 4;

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
    pub async fn take(client: &Client, names: &Names, ttl: Duration) -> Result<Self, KvError> {
        let mut waits_for = None;
        loop {
            let begun = Instant::now();
            if let Some(owner) = owner(client, names).await? {
                if waits_for.as_ref() != Some(&owner) {
                    tracing::info!(
                        owner,
                        "manager {owner} has the store; this one waits, and takes over when that one ends"
                    );
                    waits_for = Some(owner);
                }
                tokio::time::sleep(POLL).await;
                continue;
            }
            let lease = grant(client, ttl).await?;
            if let Some(fence) = create(client, names, lease).await? {
                return Ok(Self {
                    lease,
                    fence,
                    ttl,
                    until: Mutex::new(begun + ttl - MARGIN.min(ttl / 2)),
                    lost: watch::Sender::new(None),
                });
            }
        }
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

async fn owner(client: &Client, names: &Names) -> Result<Option<String>, KvError> {
    let found: RangeAnswer = client
        .call("v3/kv/range", &one(names.owner()), ANSWER)
        .await?;
    let first = found.kvs.into_iter().next();
    Ok(first.map(|owner| String::from_utf8_lossy(&owner.value.0).into_owned()))
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
async fn create(client: &Client, names: &Names, lease: Number) -> Result<Option<Number>, KvError> {
    let txn = Txn {
        compare: vec![Compare {
            key: names.owner(),
            target: Target::Created {
                create_revision: Number(0),
            },
        }],
        success: vec![Change::Put(Put {
            key: names.owner(),
            value: Text(own_name().into_bytes()),
            lease: Some(lease),
        })],
        failure: Vec::new(),
    };
    let answer: TxnAnswer = client.call("v3/kv/txn", &txn, ANSWER).await?;
    Ok(answer.succeeded.then_some(answer.header.revision))
}

/// The host and the process, for people.
fn own_name() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{} (process {})", host.trim(), std::process::id())
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
