//! Steps that ask or change the cluster, through the deployer.

pub(super) mod apply;
pub(super) mod check;
pub(super) mod diff;
pub(super) mod leftovers;
pub(super) mod remove;
pub(super) mod test;
pub(super) mod verdict;
pub(super) mod verify;
