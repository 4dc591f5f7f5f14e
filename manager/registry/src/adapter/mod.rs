//! The port to whatever holds templates, and one adapter for each kind of it.
//!
//! An adapter gives files and lists folders. It refuses to know what a template is, and which version a reference means.

pub mod directory;
pub mod git;
pub mod github;
pub mod oci;
pub mod open;
mod tree;
pub mod url;
pub mod web_folder;
use async_trait::async_trait;
use common::api::manager::RegistrySummary;
use common::registry::FilePath;

use crate::RegistryError;
use crate::cache::Staleness;

/// Entries of one folder: ten times the largest registry that is meant to be quick.
pub(crate) const FOLDER_ENTRIES: usize = 10_000;

/// A tree of files that can be read by path.
///
/// Promises of every adapter: a file is given whole or not at all, and is never larger than [`FILE_BYTES`](common::registry::FILE_BYTES); nothing
/// outside of the tree is ever read, whatever links or redirects say; what is absent is `None`, what cannot be told is
/// an error.
#[async_trait]
pub trait Files: Send + Sync {
    /// The file's bytes; `None` if there is no file of this path.
    async fn read(&self, file: &FilePath) -> Result<Option<Vec<u8>>, RegistryError>;

    /// What the file is called in a manifest: the same on every machine, and unlike any file of another registry.
    fn path_of(&self, file: &FilePath) -> String;

    /// Where the file is, for people.
    fn url_of(&self, file: &FilePath) -> String;

    /// What a user must know: that the registry is away, and since when what is told of it is old.
    fn stale(&self) -> Option<Staleness> {
        None
    }

    /// Something was not found: whatever is held for a while is to be read anew.
    fn expire(&self) {}
}

/// A registry: files in folders that can be listed.
#[async_trait]
pub trait Registry: Files {
    fn summary(&self) -> RegistrySummary;

    /// What is directly in a folder, in the order of names; `None` if there is no such folder.
    async fn entries(&self, folder: &FilePath) -> Result<Option<Vec<Entry>>, RegistryError>;

    /// Of a version's folder, what its entry would tell, for registries that tell it only when it is asked for.
    async fn revision(&self, _version: &FilePath) -> Result<Option<String>, RegistryError> {
        Ok(None)
    }
}

/// One thing in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub kind: EntryKind,
    /// Changes whenever anything in it changes, for registries that know.
    pub revision: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    /// A link, a submodule, a device: never followed.
    Other,
}
