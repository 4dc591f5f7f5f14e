//! What Helm and its tools agree on: packed charts, indexes of chart repositories, versions and their ranges.
//!
//! Responsible for these formats, as bytes and texts. It reads no files, no network and no clock, and does not know what
//! a chart renders to.
//!
//! ```
//! use common_chart::semver::choose;
//!
//! let versions = ["1.2.9", "1.3.0", "2.0.0-beta"];
//! assert_eq!(choose("~1.2", versions).unwrap(), Some("1.2.9"));
//! assert_eq!(choose("*", versions).unwrap(), Some("1.3.0"));
//! ```

pub mod archive;
mod file;
pub mod index;
pub mod semver;

pub use archive::ArchiveError;
pub use file::File;
