//! Reads JSON of strangers within bounds that hold before any value exists.
//!
//! `serde_json` bounds the depth of what it reads, but not the number of its values: 64 MiB of
//! `[0,0,0,…` become 2.4 GB. [`Scan`] looks at every byte once, allocates nothing, and counts.
//! Only a text within the [`Limits`] is read into values.
//!
//! ```text
//! bytes ── Scan (bytes, depth, values) ──► serde_json ──► values
//!             └── TooLarge: what, limit, what to do
//! ```
//!
//! It stands alone because two sides of a wall need it: the services, and the processes that run
//! templates and share nothing else with them. It refuses to know who sent the text.

mod limits;
mod read;
mod scan;

pub use limits::Limits;
pub use read::{JsonError, from_slice};
pub use scan::{Scan, TooLarge};
