//! What deployments, manifests, operations and type instances are, and how they change: pure functions over plain data.
//!
//! Nothing here waits, reads a clock, or knows HTTP, stores and other processes. The time is a parameter.

pub mod deployment;
pub mod manifest;
pub mod operation;
pub mod place;
pub mod placement;
pub mod redaction;
pub mod selector;
pub mod uses;
