//! What a template registry is made of, for those who read one (the manager) and who write one (`dm`).
//!
//! Responsible for paths within a registry, for lists of files with their digests ([`sums`]), and for the layout of templates in OCI registries ([`oci`]). It refuses to know
//! how references are resolved, and how a version comes to be.

pub mod oci;
pub mod path;
pub mod sums;

pub use path::{FilePath, PathError};
