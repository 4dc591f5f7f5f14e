//! The cache of responses: it saves requests, and serves responses while a registry is unreachable.
//!
//! ```text
//! StaleWhileRevalidate   one value, loaded again when it is old, used beyond that while the registry is unreachable
//! TtlCache               such values by key
//! MemoryCache            values by key, the least recently used removed
//! DiskCache              entries by key, in memory and on disk, also for the next process
//! Partition              the part of a DiskCache that belongs to one registry and one credential
//! ```
//!
//! It does not know the values, and how a registry is asked.

mod disk;
mod folder;
mod lru;
mod memory;
mod partition;
mod stale_while_revalidate;
mod staleness;
mod ttl;

pub use disk::{DiskCache, Entry, Key, Metadata, digest};
pub use memory::MemoryCache;
pub use partition::Partition;
pub use stale_while_revalidate::{Loaded, PAUSE, StaleWhileRevalidate};
pub use staleness::Staleness;
pub use ttl::TtlCache;
