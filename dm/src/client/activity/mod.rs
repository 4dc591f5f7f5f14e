//! What happens around a deployment's objects in the cluster.

pub mod events;
pub mod logs;
