//! The server's program as a black box, under requests that mean harm: each ends in its code, by the same
//! server, which is small and idle afterwards, and serves the next.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test ends where it fails"
)]

mod bodies;
mod crashes;
mod exponential;
mod fairness;
mod forged;
mod generated;
mod health;
mod hostile;
#[path = "../support/program.rs"]
mod program;
#[path = "../support/requests.rs"]
mod requests;

mod server;
mod without_python;
