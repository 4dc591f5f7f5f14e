//! The rules of what runs pods, and of pods.

pub mod daemon_set;
pub mod deployment;
pub mod job;
pub mod pod;
pub mod refused;
pub mod replica_set;
pub mod stateful_set;
