//! The port to what holds the documents of the catalog: files, registries, objects of a cluster.
//!
//! Promises of an adapter:
//! - [`Source::fetch`] returns what there is now. What has not changed is equal.
//! - What does not exist, or may not be read, is [`SourceError::Faulty`]. What may be mended by waiting is
//!   [`SourceError::Unreachable`].
//! - A fetch ends by itself, and may be dropped at any time.

mod address;
#[cfg(test)]
pub mod fake;
mod file;
mod folder;

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;

pub use address::{Address, Objects};
pub use file::FileSource;
pub use folder::Folder;

/// How long a change may stay unnoticed, if it costs nothing to look.
const INTERVAL: Duration = Duration::from_secs(1);

#[async_trait]
pub trait Source: Send + Sync {
    /// What the operator calls it.
    fn name(&self) -> String;

    /// How often it is looked at.
    fn interval(&self) -> Duration {
        INTERVAL
    }

    /// Its files, as they are now.
    async fn fetch(&self) -> Result<Vec<File>, SourceError>;
}

/// A file with documents of the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// What faults call it. Types that are parts of the file begin with the last part of its path.
    pub path: PathBuf,
    pub text: String,
    /// What else its documents may name.
    pub beside: Folder,
}

/// Why there are no files. It names the source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The operator must act.
    #[error("{0}")]
    Faulty(String),
    /// It may be there again soon.
    #[error("{0}")]
    Unreachable(String),
}
