//! The commands for operations that run: waiting for their end, and stopping them.

pub mod stop;
pub mod wait;
