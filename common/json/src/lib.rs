//! Reads untrusted JSON within limits that are checked before any value exists.
//!
//! `serde_json` limits the depth of a text, but not the number of its values: 64 MiB of `[0,0,0,…` become 2.4 GB.
//! [`Scan`] reads every byte once, allocates nothing, and counts. Only a text within the [`Limits`] is parsed into
//! values.
//!
//! ```text
//! bytes ── Scan (bytes, depth, values) ──► serde_json ──► values
//!             └── TooLarge: what, limit, what to do
//! ```
//!
//! It is a separate package because two isolated sides need it: the services, and the processes that run templates and
//! share no other code with them. It does not know where a text comes from.

mod limits;
mod read;
mod scan;

pub use limits::Limits;
pub use read::{JsonError, from_slice};
pub use scan::{Scan, TooLarge};
