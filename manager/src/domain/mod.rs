//! What deployments, manifests, operations and type instances are, and how they change: pure functions over plain data.
//!
//! Nothing here waits, reads a clock, or knows HTTP, stores and other processes. The time is a parameter.

pub mod correction;
pub mod deletes;
pub mod deployment;
pub mod imports;
pub mod instances;
pub mod intent;
pub mod manifest;
pub mod operation;
pub mod place;
pub mod properties;
pub mod redaction;
pub mod resolution;
pub mod selector;
pub mod service_binding;
pub mod uses;
