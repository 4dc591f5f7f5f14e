//! What a template registry is made of, for those who read one and those who write one.
//!
//! Responsible for paths within a registry, for where its collections are ([`collections`]), for lists of files with their
//! digests ([`sums`]), for how addresses are told, for the layout of templates in OCI registries ([`oci`]), and for what
//! packages come to ([`package`]). It refuses to know how references are resolved, and how
//! a version comes to be.

pub mod collections;
pub mod oci;
pub mod package;
pub mod path;
pub mod sums;

pub use path::{FilePath, PathError};

/// One file at most: the largest real template has some hundred kilobytes.
pub const FILE_BYTES: usize = 1024 * 1024;
/// All files of one template together.
pub const TEMPLATE_BYTES: usize = 8 * 1024 * 1024;
/// Files that one template's schema may import.
pub const TEMPLATE_IMPORTS: usize = 100;
/// Files of one version.
pub const VERSION_FILES: usize = 500;
/// Folders within one another in a version.
pub const VERSION_DEPTH: usize = 8;
/// What a template's schema is called beyond the template's name.
pub const SCHEMA: &str = ".schema";
