//! Puts a checked version into a registry.
//!
//! ```text
//! CheckedVersion ─► publish ─► RegistryWriter (port) ◄─ directory, git, oci
//!               │ what exists: collections, versions, the same version, the previous one (rules)
//! ```
//!
//! Responsible for what may be published: a published version never changes, because deployments rely on it. It refuses to know
//! which versions are valid ([`crate::authoring::package`]), and how references are resolved, which is the manager's work.

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
    /// A file in the registry's root.
    async fn root_file(&self, name: &FilePath) -> Result<Option<Vec<u8>>, PublishError>;

    /// The names of the entries in a template's folder; none if the template does not exist.
    async fn versions(&self, template: &FilePath) -> Result<Vec<String>, PublishError>;

    /// All files of a published version.
    async fn version(
        &self,
        template: &FilePath,
        version: &str,
    ) -> Result<VersionFiles, PublishError>;

    async fn put(&self, template: &FilePath, package: &CheckedVersion) -> Result<(), PublishError>;

    /// Completes a version whose publication was interrupted.
    async fn complete(&self, _template: &FilePath) -> Result<(), PublishError> {
        Ok(())
    }
}

/// The result of a publication that did not fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Published. The comparison with the previous version, if there was one.
    Published(Option<Compared>),
    /// It was already published, with the same files.
    Present,
}

/// `compares`: whether the version must keep the promises of the previous one.
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

/// The template's folder: at the root for the unnamed collection, or where the registry's metadata file says.
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

/// A version's folder in the registry.
fn version_folder(template: &FilePath, version: &str) -> Result<FilePath, PathError> {
    template.join_text(version)
}
