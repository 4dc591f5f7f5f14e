//! What happens around the objects of a deployment, for readers: the cluster's events, and the logs of containers.
//!
//! Everything is read as the caller. What the caller may not read, or what does not answer, is a notice in plain words:
//! the rest is shown all the same.

mod events;
mod family;
pub mod logs;

use std::time::Duration;

pub use events::events;

/// The time of one read.
const READ: Duration = Duration::from_secs(20);
