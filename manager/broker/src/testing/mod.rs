//! A backend in memory, whose engine does what the type of a deployment says, and a platform that calls the broker.

mod backend;
mod platform;

pub use backend::MemoryBackend;
pub use platform::{Platform, Reply, bind, provision};
