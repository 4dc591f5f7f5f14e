//! Starts an operation, follows it to its end, and shows the result.

pub mod error;
mod failures;
pub mod follow;
pub mod preview;
pub mod progress;
mod tally;
pub mod write;
