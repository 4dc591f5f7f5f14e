//! Semantic versions and constraints, as the Go package `semver` 3.5 reads them.
//!
//! Not the crate `semver`: it has no `||`, no ranges with a hyphen, no versions of two numbers, and another rule for
//! prereleases.

mod choice;
mod constraint;
mod version;

pub use choice::{choose, newest_first};
pub use constraint::{Constraint, ConstraintError};
pub use version::Version;
