//! Which manager has the store: the one whose key is there, bound to a lease that it keeps alive.
//!
//! A lease says only that its owner may be alive. What keeps a paused manager from writing is the fence: the revision at
//! which the owner's key was created, which every transaction compares ([`super::commits::slots`]).

mod calls;
mod candidate;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::super::KvError;
use super::client::Client;
use super::client::wire::{Compare, Number, Revoke, Target};
use super::names::Names;
use super::{EtcdKv, Shared};

pub use self::calls::{grant, renew};
pub use self::candidate::{Candidate, Held, Owner};

/// The end of a lease is awaited in steps of this.
const POLL: Duration = Duration::from_millis(250);
/// How long the store may take to answer before it counts as unreachable.
pub const ANSWER: Duration = Duration::from_secs(10);
/// A manager stops reading so much before its lease can end.
const MARGIN: Duration = Duration::from_secs(1);
/// Keepalives in the time of one lease.
const BEATS: u32 = 5;

#[derive(Debug)]
pub struct Ownership {
    lease: Number,
    /// The revision at which the owner's key was created.
    pub fence: Number,
    ttl: Duration,
    state: watch::Sender<State>,
}

#[derive(Debug)]
struct State {
    /// Nobody else has the store before.
    until: Instant,
    lost: Option<KvError>,
    /// Why the lease was not renewed the last time.
    trouble: Option<String>,
}

impl State {
    /// None if it is not known.
    fn holds(&self) -> Option<Result<(), KvError>> {
        match &self.lost {
            Some(error) => Some(Err(error.clone())),
            None => (Instant::now() < self.until).then_some(Ok(())),
        }
    }
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
        let found = calls::owner(client, names).await?;
        let found = found.map(|key| Owner::read(&key.value.0));
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
        let (lease, granted) = (calls::grant(client, ttl).await?, Instant::now());
        let fence = match calls::create(client, names, lease, &candidate.own).await {
            // etcd had no leader for so long that the lease is over.
            Err(KvError::Failed { .. }) if granted.elapsed() > ttl - MARGIN => None,
            fence => fence?,
        };
        Ok(fence.map(|fence| Self {
            lease,
            fence,
            ttl,
            state: watch::Sender::new(State {
                until: end(begun, ttl),
                lost: None,
                trouble: None,
            }),
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

    /// Whether nobody else can have the store now. A lease that is not renewed in time is waited for: etcd elects a
    /// leader, or another manager takes over, and callers go on there.
    pub async fn check(&self) -> Result<(), KvError> {
        let mut states = self.state.subscribe();
        let known = timeout(ANSWER, states.wait_for(|state| state.holds().is_some())).await;
        let known = known.ok().and_then(Result::ok);
        let known = known.and_then(|state| state.holds());
        known.unwrap_or_else(|| Err(late(self.state.borrow().trouble.as_deref())))
    }

    /// Whether this manager still has the store, as etcd says now. A process that was stopped does not know it otherwise.
    pub async fn confirm(&self, client: &Client, names: &Names) -> Result<(), KvError> {
        self.check().await?;
        let found = calls::owner(client, names).await?;
        if found.is_none_or(|owner| owner.create_revision != self.fence) {
            self.lose("another manager has taken it over");
        }
        self.check().await
    }

    /// Another manager has the store, or may have it.
    pub fn lose(&self, reason: &str) {
        self.state.send_if_modified(|state| {
            let is_first = state.lost.is_none();
            state.lost.get_or_insert(KvError::TakenOver {
                reason: reason.to_owned(),
            });
            is_first
        });
    }

    pub fn is_lost(&self) -> bool {
        self.state.borrow().lost.is_some()
    }

    /// Waits until the store is lost.
    pub async fn lost(&self) -> KvError {
        let mut states = self.state.subscribe();
        let found = states.wait_for(|state| state.lost.is_some()).await;
        match found.ok().and_then(|state| state.lost.clone()) {
            Some(error) => error,
            None => std::future::pending().await,
        }
    }

    /// Keeps the lease alive for as long as it can.
    pub async fn keep(self: Arc<Self>, client: Arc<Client>) {
        let mut pause = self.ttl / BEATS;
        while !self.is_lost() {
            tokio::time::sleep(pause).await;
            let begun = Instant::now();
            pause = self.ttl / BEATS;
            match calls::renew(&client, self.lease, self.ttl / 2).await {
                Ok(true) => self.state.send_modify(|state| {
                    state.until = end(begun, self.ttl);
                    state.trouble = None;
                }),
                Ok(false) => self.lose("its lease has ended: etcd or this manager had stopped"),
                Err(error) => {
                    tracing::warn!(%error, "the lease on the store is not renewed yet: {error}");
                    self.bear(&error);
                    pause = POLL;
                }
            }
        }
    }

    /// Keeps the reason for those who wait. What etcd refuses it refuses later too: then the store is lost with the lease.
    fn bear(&self, error: &KvError) {
        let (reason, is_refused) = match error {
            KvError::Unreachable { reason } => (reason.clone(), false),
            KvError::Failed { reason, .. } => (reason.clone(), true),
            other => (other.to_string(), false),
        };
        if is_refused && Instant::now() > self.state.borrow().until + MARGIN {
            self.lose(&format!("etcd does not renew its lease: {reason}"));
        }
        self.state.send_modify(|state| state.trouble = Some(reason));
    }

    /// Gives the store up, so that the next manager need not wait for the lease to end.
    pub async fn release(&self, client: &Client) {
        self.lose("it has given it up");
        let lease = self.lease;
        if let Err(error) = client.call(&Revoke { lease }, ANSWER).await {
            tracing::warn!(%error, "the lease on the store ends by itself: {error}");
        }
    }
}

fn late(trouble: Option<&str>) -> KvError {
    let late = "etcd has not renewed this manager's lease in time";
    KvError::Unreachable {
        reason: trouble.map_or_else(|| late.to_owned(), |why| format!("{late}: {why}")),
    }
}

impl EtcdKv {
    /// Tells the candidate which manager has the store, after this one has given it up. Does not end.
    pub async fn follow_owner(&self, candidate: &Candidate) {
        let Shared { client, names, .. } = &*self.0;
        loop {
            match calls::owner(client, names).await {
                Ok(found) => {
                    let found = found.map(|key| Owner::read(&key.value.0));
                    candidate.sees(found.as_ref().filter(|owner| **owner != candidate.own));
                }
                Err(error) => {
                    tracing::warn!(%error, "it is not known which manager has the store: {error}");
                }
            }
            tokio::time::sleep(POLL).await;
        }
    }
}

/// When a manager stops reading whose lease was renewed by a call that began then.
fn end(begun: Instant, ttl: Duration) -> Instant {
    begun + ttl - MARGIN.min(ttl / 2)
}
