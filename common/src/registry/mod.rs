//! What a template registry is made of, for those who read one and those who write one.
//!
//! Responsible for paths within a registry, for lists of files with their digests ([`sums`]), and for the layout of templates in OCI registries ([`oci`]). It refuses to know
//! how references are resolved, and how a version comes to be.

pub mod oci;
pub mod path;
pub mod sums;

pub use path::{FilePath, PathError};
