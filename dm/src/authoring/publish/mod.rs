//! Puts a checked version into a registry.
//!
//! ```text
//! CheckedVersion ─► publish ─► RegistryWriter (port) ◄─ directory, git, oci
//!               │ what is there: collections, versions, the same version, the one before it (rules)
//! ```
//!
//! Responsible for what may be put where: a version that is published stays as it is, for deployments rely on it. It refuses to
//! know what a good version is ([`crate::authoring::package`]), and how one is found again: that is the manager's.

pub mod command;
mod destination;
mod directory;
mod error;
mod git;
mod git_command;
mod oci;
mod rules;

use common::model::Version;
use common::registry::collections::{self, Collections};
use common::registry::{FilePath, PathError};

use crate::authoring::package::{CheckedVersion, VersionFiles};

pub use destination::Destination;
pub use directory::Directory;
pub use error::PublishError;
pub use git::Repository;
pub use git_command::GitError;
pub use oci::Artifacts;
pub use rules::Compared;

/// A registry to put versions into.
///
/// Every adapter promises: a version is complete or absent, and a published version is never overwritten.
pub trait RegistryWriter {
    /// A file of the registry's root.
    async fn root_file(&self, name: &FilePath) -> Result<Option<Vec<u8>>, PublishError>;

    /// The names of what is directly in a template's folder; none if there is no such template.
    async fn versions(&self, template: &FilePath) -> Result<Vec<String>, PublishError>;

    /// All files of a version that is there.
    async fn version(
        &self,
        template: &FilePath,
        version: &str,
    ) -> Result<VersionFiles, PublishError>;

    async fn put(&self, template: &FilePath, package: &CheckedVersion) -> Result<(), PublishError>;

    /// Of a version that is there already: whatever a publication that was cut short left undone.
    async fn complete(&self, _template: &FilePath) -> Result<(), PublishError> {
        Ok(())
    }
}

/// How a publication ended, if it did not fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Beside the version before it, if there is one and it was to be looked at.
    Published(Option<Compared>),
    /// It had been published, with the same files.
    Present,
}

/// `compares`: whether it must keep what the version before it promised.
pub async fn publish(
    shelf: &impl RegistryWriter,
    package: &CheckedVersion,
    collection: Option<&str>,
    compares: bool,
) -> Result<Outcome, PublishError> {
    let template = folder(shelf, package, collection).await?;
    let versions = shelf.versions(&template).await?;
    let same = versions
        .iter()
        .find(|name| name.parse::<Version>() == Ok(package.number));
    match same {
        Some(name) if *name == package.version => {
            let there = shelf.version(&template, name).await?;
            same_files(&there, package)?;
            shelf.complete(&template).await?;
            Ok(Outcome::Present)
        }
        Some(name) => Err(PublishError::SameVersion {
            version: package.reference(),
            other: name.clone(),
        }),
        None => {
            let before = rules::before(&versions, package.number).filter(|_| compares);
            let compared = match before {
                None => None,
                Some(name) => {
                    let contents = shelf.version(&template, name).await?;
                    Some(rules::check(package, name, &contents, &versions).await?)
                }
            };
            shelf.put(&template, package).await?;
            Ok(Outcome::Published(compared))
        }
    }
}

/// The template's folder: in the unnamed collection at the root, or where the registry's metadata file says.
async fn folder(
    shelf: &impl RegistryWriter,
    package: &CheckedVersion,
    collection: Option<&str>,
) -> Result<FilePath, PublishError> {
    let Some(name) = collection else {
        return Ok(FilePath::parse(&package.template)?);
    };
    let file = FilePath::parse(collections::FILE)?;
    let known = match shelf.root_file(&file).await? {
        None => Collections::default(),
        Some(bytes) => parsed(&bytes)?,
    };
    let folder = known.folder(name)?;
    match name.contains('/') {
        true => Err(PublishError::Collection(name.to_owned())),
        false => Ok(folder.join_text(&package.template)?),
    }
}

fn parsed(bytes: &[u8]) -> Result<Collections, PublishError> {
    let text = std::str::from_utf8(bytes).map_err(|error| vec![error.to_string()]);
    let parsed = text.and_then(Collections::parse);
    parsed.map_err(|faults| PublishError::Metadata { faults })
}

fn same_files(there: &VersionFiles, package: &CheckedVersion) -> Result<(), PublishError> {
    let paths = there.keys().chain(package.files.keys());
    let mut different: Vec<String> = paths
        .filter(|path| there.get(path) != package.files.get(path))
        .map(FilePath::to_string)
        .collect();
    different.sort();
    different.dedup();
    match different.is_empty() {
        true => Ok(()),
        false => Err(PublishError::Taken {
            version: package.reference(),
            different,
        }),
    }
}

/// A version's folder within the registry.
fn version_folder(template: &FilePath, version: &str) -> Result<FilePath, PathError> {
    template.join_text(version)
}
