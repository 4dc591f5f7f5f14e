//! How an operation runs: journaled steps, run by an engine, resumed after a crash.
//!
//! ```text
//! service ── accept ──► engine ── plan ──► step ──► its changes + StepSucceeded, in one commit ──► next step … Finished
//!                         ▲                 └── fails ──► its changes + StepFailed + Finished + release, in one commit
//!      start ── recovery ─┘
//! ```
//!
//! A step has effects that converge when they are repeated, and returns what is to be written. Only the engine commits,
//! so one commit holds both the changes of a step and the fact that the step is done.

mod authority;
pub mod diff;
pub mod engine;
pub mod expansion;
pub mod hooks;
mod job;
mod retry;
pub mod step;
mod steps;
pub mod upgrade;

#[cfg(test)]
mod tests;

pub use authority::verb;
pub use engine::{Capacity, Engine, OperationHandle};
pub use retry::Retry;
