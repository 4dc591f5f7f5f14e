//! Registries from outside: real servers on loopback, real repositories, and what a reference leads to.

mod bundled;
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
