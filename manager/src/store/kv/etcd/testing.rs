//! Stores on etcd for tests.

use std::time::Duration;

use super::{Candidate, EtcdAddress, EtcdKv, KvError, Owner, StoreAccess};

#[path = "../../../../tests/etcd_members/mod.rs"]
mod members;

pub use self::members::{Members, NO_DISK, free_ports, shared};

/// Short, for tests that wait for the end of one.
pub const LEASE: Duration = Duration::from_secs(4);

/// A place that nobody uses yet.
pub fn place() -> EtcdAddress {
    shared().address().parse().unwrap()
}

/// A store of its own.
pub async fn store() -> EtcdKv {
    open(&place()).await
}

pub async fn open(address: &EtcdAddress) -> EtcdKv {
    try_open(address).await.unwrap()
}

pub async fn try_open(address: &EtcdAddress) -> Result<EtcdKv, KvError> {
    EtcdKv::open_leased(address, &StoreAccess::default(), None, LEASE, &candidate()).await
}

pub fn candidate() -> Candidate {
    candidate_reading(u32::MAX)
}

/// A manager that reads formats up to this one.
pub fn candidate_reading(format: u32) -> Candidate {
    Candidate::new(Owner::this(None, None), format)
}
