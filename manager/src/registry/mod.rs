//! Template registries: where the templates come from that a configuration names by reference.
//!
//! Responsible for the seed's conventions ("Template Registries"): what a reference looks like, which version it
//! means, which files a template consists of. It refuses to know what is in a template, and what is done with it.
//!
//! ```text
//! reference ─ parse ─► Registries ─ picks ─► Registry (port)  ◄─ directory, github
//!                          │                    │ which version folder (catalog, versions)
//!                          │                    ▼
//!                          └─ a full URL ──► Files (port)     ◄─ directory, github, http
//!                                               │ template, its schema, the schema's imports (fetch); or a package
//!                                               ▼
//!                                        ResolvedTemplate
//! ```

#[cfg(test)]
mod alone;
mod auth;
#[cfg(test)]
mod authority;
#[cfg(test)]
mod backend;
#[cfg(test)]
mod bundled;
mod cache;
mod catalog;
mod collections;
#[cfg(test)]
mod conformance;
mod definition;
mod directory;
mod error;
mod example;
mod fetch;
mod fresh;
mod git;
mod github;
mod http;
mod identity;
mod listed;
#[cfg(test)]
mod loopback;
mod oci;
mod options;
mod package;
mod places;
mod reference;
#[cfg(test)]
mod registered;
mod registries;
#[cfg(test)]
mod seed;
#[cfg(test)]
mod service_account;
mod signature;
mod tree;
mod versions;
mod web;

use async_trait::async_trait;
use common::api::manager::RegistrySummary;

pub use auth::check as check_credential;
pub use error::RegistryError;
pub use identity::Identity;
pub use options::Options;
pub use places::DEFAULT;
pub use registries::{Registries, ResolvedTemplate};

use common::registry::path::{self, FilePath};
use common::registry::{FILE_BYTES, TEMPLATE_BYTES, TEMPLATE_IMPORTS};
use fresh::Old;

/// Entries of one folder: ten times the largest registry that is meant to be quick.
const FOLDER_ENTRIES: usize = 10_000;

/// A tree of files that can be read by path.
///
/// Promises of every adapter: a file is given whole or not at all, and is never larger than [`FILE_BYTES`]; nothing
/// outside of the tree is ever read, whatever links or redirects say; what is absent is `None`, what cannot be told is
/// an error.
#[async_trait]
pub(crate) trait Files: Send + Sync {
    /// The file's bytes; `None` if there is no file of this path.
    async fn read(&self, file: &FilePath) -> Result<Option<Vec<u8>>, RegistryError>;

    /// What the file is called in a manifest: the same on every machine, and unlike any file of another registry.
    fn path_of(&self, file: &FilePath) -> String;

    /// Where the file is, for people.
    fn url_of(&self, file: &FilePath) -> String;

    /// What a user must know: that the registry is away, and since when what is told of it is old.
    fn stale(&self) -> Option<Old> {
        None
    }

    /// Something was not found: whatever is held for a while is to be read anew.
    fn expire(&self) {}
}

/// A registry: files in folders that can be listed.
#[async_trait]
pub(crate) trait Registry: Files {
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
pub(crate) struct Entry {
    pub name: String,
    pub kind: EntryKind,
    /// Changes whenever anything in it changes, for registries that know.
    pub revision: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Folder,
    /// A link, a submodule, a device: never followed.
    Other,
}
