//! The parts of a template registry, for programs that read or write one.
//!
//! Responsible for paths within a registry, for its collections ([`collections`]), for lists of files with their
//! digests ([`sums`]), for the layout of templates in OCI registries ([`oci`]), for the contents of packages
//! ([`package`]), and for what packed charts say about themselves ([`chart`]). It does not resolve references and does not publish versions.

pub mod chart;
pub mod collections;
pub mod oci;
pub mod package;
pub mod path;
pub mod sums;

pub use path::{FilePath, PathError};

/// Bytes of one file. The largest real template has some hundred kilobytes.
pub const FILE_BYTES: usize = 1024 * 1024;
/// Bytes of a packed chart: some ten times the largest ones in public. As base 64 it fits into a request.
pub const CHART_BYTES: usize = 6 * 1024 * 1024;
/// The ending of packed charts.
pub const PACKED: &str = ".tgz";
/// The ending of a packed chart's provenance file, after the name of the chart.
pub const PROVENANCE: &str = ".prov";
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

/// The largest size of a file with this name.
#[must_use]
pub fn limit_of(file: &FilePath) -> usize {
    match file.as_str().ends_with(PACKED) {
        true => CHART_BYTES,
        false => FILE_BYTES,
    }
}
