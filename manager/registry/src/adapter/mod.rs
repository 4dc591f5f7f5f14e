//! The port to storage that holds templates, with one adapter for each kind of storage.
//!
//! An adapter reads files and lists folders. It does not know templates, and which version a reference means.

pub mod directory;
pub mod git;
pub mod github;
pub mod helm;
pub mod oci;
pub mod open;
mod tree;
pub mod url;
pub mod web_folder;
use std::sync::Arc;

use async_trait::async_trait;
use common::api::manager::RegistrySummary;
use common::registry::FilePath;

use crate::RegistryError;
use crate::cache::Staleness;
use crate::reference::WantedChart;

/// The largest number of entries in a folder: ten times the largest registry that must be fast.
pub(crate) const FOLDER_ENTRIES: usize = 10_000;

/// A tree of files that can be read by path.
///
/// Every adapter promises:
/// - a file is returned whole, and has at most [`limit_of`](common::registry::limit_of) its name bytes,
/// - links and redirects never lead outside of the tree,
/// - a missing file is `None`, and an unknown answer is an error.
///
/// # Errors
/// - The registry is unreachable, and there is no cached answer. A later call may succeed.
/// - The registry itself does not exist, or its credential does not open it.
/// - A file or a list is larger than its limit, or cannot be read.
#[async_trait]
pub trait Files: Send + Sync {
    /// The bytes of the file. `None` if there is no file at this path.
    async fn read(&self, file: &FilePath) -> Result<Option<Vec<u8>>, RegistryError>;

    /// The name of the file in a manifest: the same on every machine, and unique among all registries.
    fn path_of(&self, file: &FilePath) -> String;

    /// The address of the file, for users.
    fn url_of(&self, file: &FilePath) -> String;

    /// How old the answers are, if the registry is unreachable.
    fn stale(&self) -> Option<Staleness> {
        None
    }

    /// Makes the next call ask the registry, because something was not found.
    fn expire(&self) {}
}

/// A registry: files in folders that can be listed.
#[async_trait]
pub trait Registry: Files {
    /// Its name and how it was registered.
    fn summary(&self) -> RegistrySummary;

    /// The entries of a folder, sorted by name. `None` if there is no such folder.
    async fn entries(&self, folder: &FilePath) -> Result<Option<Vec<Entry>>, RegistryError>;

    /// The packed chart that a reference to a chart means.
    ///
    /// # Errors
    /// [`RegistryError::NotCharts`] if the registry is of a kind without packed charts. Otherwise as [`Files`], or no version fits.
    async fn chart(&self, wanted: &WantedChart) -> Result<LocatedChart, RegistryError> {
        Err(RegistryError::NotCharts {
            registry: self.summary().name,
            chart: wanted.chart.clone(),
        })
    }

    /// The revision of a version's folder, for registries whose entries have no revisions.
    async fn revision(&self, _version: &FilePath) -> Result<Option<String>, RegistryError> {
        Ok(None)
    }
}

/// A packed chart, found by its own version.
pub enum LocatedChart {
    Here(ChartFile),
    /// A chart repository may name archives in OCI registries.
    Elsewhere(String),
}

pub struct ChartFile {
    pub version: String,
    /// The archive is a file of it.
    pub files: Arc<dyn Files>,
    pub archive: FilePath,
    /// The digest of the archive, if the registry names it.
    pub revision: Option<String>,
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub kind: EntryKind,
    /// Changes with every change of the contents. `None` if the registry does not have it.
    pub revision: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    /// A link, a submodule, a device: never followed.
    Other,
}
