//! An operation: started, followed to its end, and its result.

pub mod error;
pub mod follow;
pub mod preview;
pub mod progress;
pub mod write;
