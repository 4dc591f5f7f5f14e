//! The parts of a template registry, for programs that read or write one.
//!
//! Responsible for paths within a registry, for its collections ([`collections`]), for lists of files with their
//! digests ([`sums`]), for the layout of templates in OCI registries ([`oci`]), and for the contents of packages
//! ([`package`]). It does not resolve references and does not publish versions.

pub mod collections;
pub mod oci;
pub mod package;
pub mod path;
pub mod sums;

pub use path::{FilePath, PathError};

/// Bytes of one file. The largest real template has some hundred kilobytes.
pub const FILE_BYTES: usize = 1024 * 1024;
/// Bytes of all files of one template.
pub const TEMPLATE_BYTES: usize = 8 * 1024 * 1024;
/// Files that one template's schema may import.
pub const TEMPLATE_IMPORTS: usize = 100;
/// Files of one version.
pub const VERSION_FILES: usize = 500;
/// How deep folders may be nested in a version.
pub const VERSION_DEPTH: usize = 8;
/// The ending of a template's schema, after the name of the template.
pub const SCHEMA: &str = ".schema";
