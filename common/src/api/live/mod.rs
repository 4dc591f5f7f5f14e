//! What callers read of the cluster, with their own rights.

pub mod activity;
pub mod export;
