//! How an operation is carried out: journaled steps, run by an engine, gone on with after a crash.
//!
//! ```text
//! service ── accept ──► engine ── plan ──► step ──► its changes + StepSucceeded, in one commit ──► next step … Finished
//!                         ▲                 └── fails ──► its changes + StepFailed + Finished + release, in one commit
//!      start ── recovery ─┘
//! ```
//!
//! A step does its effects, which converge when repeated, and gives back what is to be written. Only the engine
//! commits, so that what a step did and that it did it are told by the same commit.

mod authority;
pub mod choice;
pub mod diff;
pub mod engine;
pub mod expansion;
mod follow;
mod plans;
mod recovery;
mod retry;
mod runner;
pub mod step;
mod steps;
mod tries;
mod undo;
pub mod upgrade;
pub mod watch;

#[cfg(test)]
mod tests;

pub use authority::verb;
pub use engine::{Capacity, Engine, OperationHandle};
pub use retry::Retry;
