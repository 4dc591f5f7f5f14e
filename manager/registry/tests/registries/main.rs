//! Registries from outside: real servers on loopback, real repositories, and the targets of references.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test ends where it fails"
)]

mod bundled;
mod charts;
mod conformance;
mod conventions;
mod git;
mod hostile_server;
mod oci;
mod packages;
mod registered;
mod service_account;
mod signatures;
mod support;
