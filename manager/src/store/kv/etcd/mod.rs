//! The store on etcd. The only folder that knows etcd.
//!
//! One manager has the store at a time ([`ownership`]); others wait, and take over when it ends. So what one process
//! knows of its own commits holds: large ones are made in several transactions that nobody sees in between ([`large`]),
//! and numbers are added to without conflicts ([`commits`]). What a manager writes that was paused and lost the store
//! meanwhile, etcd refuses: each transaction compares the owner's key ([`slots`]).
//!
//! The others read it meanwhile ([`reads::reader`]).
//!
//! It calls etcd by gRPC, with the HTTP client of the other services ([`client`]).

mod cache;
mod client;
mod commits;
mod names;
mod open;
mod options;
mod ownership;
mod reads;
mod registration;
#[cfg(test)]
pub mod testing;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::RwLock;
use tokio::task::JoinSet;

use self::cache::Cache;
use self::client::Client;
use self::client::wire::{Alarms, Number};
use self::commits::joined::Queues;
use self::commits::slots::Slots;
use self::commits::{Size, Stripes};
use self::names::Names;
use self::ownership::Ownership;
use self::reads::Source as _;
use self::reads::freshness::Freshness;
use self::reads::signposts::Signposts;
use self::registration::Registration;
use super::{Commit, Entry, Key, Kv, KvError, Pace, Registered, Scan, read_only};

pub use self::client::address::{AddressError, EtcdAddress};
pub use self::options::StoreAccess;
pub use self::ownership::{Candidate, Owner};
pub use self::reads::reader::EtcdReader;
pub use self::registration::REGISTRATION_BEAT;

/// A manager that died is replaced after this time. It takes longer if etcd's leader dies too: etcd elects another one
/// then, and extends all leases.
const LEASE: Duration = Duration::from_secs(5);

/// The store. Clones share it.
#[derive(Debug, Clone)]
pub struct EtcdKv(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    client: Arc<Client>,
    names: Names,
    owner: Arc<Ownership>,
    registration: Arc<Registration>,
    signposts: Arc<Signposts>,
    freshness: Freshness,
    cache: Cache,
    queues: Queues,
    slots: Slots,
    numbers: Stripes,
    /// A large commit holds it alone: nobody reads a part of it.
    gate: RwLock<()>,
    /// They end with the store.
    _tasks: JoinSet<()>,
}

impl EtcdKv {
    /// Opens the store below a prefix, or makes a new one there. Waits while another manager has it.
    ///
    /// `accept` is the token with which the operator accepts that the cluster is another one (`--accept-loss`).
    /// `candidate` learns which manager has the store meanwhile.
    pub async fn open(
        address: &EtcdAddress,
        access: &StoreAccess,
        accept: Option<&str>,
        candidate: &Candidate,
    ) -> Result<Self, KvError> {
        Self::open_leased(address, access, accept, LEASE, candidate).await
    }

    /// The value of a key, for a look at the store before it is waited for. None in a new store.
    pub async fn peek(
        address: &EtcdAddress,
        access: &StoreAccess,
        key: &[u8],
    ) -> Result<Option<Bytes>, KvError> {
        open::peek(address, access, key).await
    }

    async fn open_leased(
        address: &EtcdAddress,
        access: &StoreAccess,
        accept: Option<&str>,
        lease: Duration,
        candidate: &Candidate,
    ) -> Result<Self, KvError> {
        let shared = open::open(address, access, accept, lease, candidate).await?;
        Ok(Self(Arc::new(shared)))
    }

    /// Waits until another manager has the store, or may have it. This process must end then.
    pub async fn lost(&self) -> KvError {
        self.0.owner.lost().await
    }

    /// Gives the store up, at the end of the process: nothing is read or written after it.
    pub async fn release(&self) {
        self.0.owner.release(&self.0.client).await;
        self.0.registration.end(&self.0.client).await;
    }

    /// # Errors
    /// If etcd says of itself that it is damaged, or has no room.
    async fn alarms(&self) -> Result<(), KvError> {
        let answer = self.0.ask(&Alarms).await?;
        if answer.is_corrupt {
            return Err(KvError::Damaged {
                place: "etcd".to_owned(),
                reason: "its members differ (the alarm CORRUPT)".to_owned(),
                accept: None,
            });
        }
        match answer.no_space {
            true => Err(KvError::NoSpace),
            false => Ok(()),
        }
    }
}

#[async_trait]
impl Kv for EtcdKv {
    async fn get(&self, key: &[u8]) -> Result<Option<Entry>, KvError> {
        let found = self.get_each(vec![key.to_vec()]).await?;
        Ok(found.into_iter().next().flatten())
    }

    async fn get_each(&self, keys: Vec<Key>) -> Result<Vec<Option<Entry>>, KvError> {
        let _whole = self.0.whole().await?;
        self.0.entries(&keys).await
    }

    async fn scan(&self, scan: Scan) -> Result<Vec<(Key, Bytes)>, KvError> {
        let _whole = self.0.whole().await?;
        self.0.scan_at(&scan, None).await
    }

    async fn commit(&self, commit: Commit) -> Result<(), KvError> {
        commits::fits(&commit)?;
        match Size::of(&commit).fits() {
            true => self.0.commit_joined(commit).await,
            false => Arc::clone(&self.0).commit_large(commit).await,
        }
    }

    async fn snapshot(&self) -> Result<Arc<dyn Kv>, KvError> {
        let _whole = self.0.whole().await?;
        Ok(Arc::new(Snapshot {
            shared: Arc::clone(&self.0),
            revision: self.0.revision().await?,
        }))
    }

    /// etcd's own checks: its members compare what they hold.
    async fn check(&self, _: Pace) -> Result<(), KvError> {
        match self.alarms().await {
            Err(KvError::NoSpace) => Ok(()),
            outcome => outcome,
        }
    }

    async fn accepts(&self) -> Result<(), KvError> {
        self.alarms().await
    }

    async fn owned(&self) -> Result<(), KvError> {
        self.0.owned().await
    }

    async fn managers(&self) -> Result<Vec<Registered>, KvError> {
        self.0.registered().await
    }
}

/// The store as it was at a revision, for as long as etcd keeps that.
#[derive(Debug)]
struct Snapshot {
    shared: Arc<Shared>,
    revision: Number,
}

#[async_trait]
impl Kv for Snapshot {
    async fn get(&self, key: &[u8]) -> Result<Option<Entry>, KvError> {
        let found = self.get_each(vec![key.to_vec()]).await?;
        Ok(found.into_iter().next().flatten())
    }

    async fn get_each(&self, keys: Vec<Key>) -> Result<Vec<Option<Entry>>, KvError> {
        let found = self.shared.entries_at(&keys, Some(self.revision)).await?;
        Ok(found.0)
    }

    async fn scan(&self, scan: Scan) -> Result<Vec<(Key, Bytes)>, KvError> {
        self.shared.scan_at(&scan, Some(self.revision)).await
    }

    async fn commit(&self, _: Commit) -> Result<(), KvError> {
        Err(read_only())
    }

    /// It does not change.
    async fn snapshot(&self) -> Result<Arc<dyn Kv>, KvError> {
        Ok(Arc::new(Self {
            shared: Arc::clone(&self.shared),
            revision: self.revision,
        }))
    }

    async fn check(&self, _: Pace) -> Result<(), KvError> {
        Ok(())
    }

    async fn accepts(&self) -> Result<(), KvError> {
        Err(read_only())
    }

    async fn owned(&self) -> Result<(), KvError> {
        self.shared.owned().await
    }
}
