//! What can be wrong with a package.

use crate::manifests::ManifestError;
use crate::yaml::WriteError;

use super::{MANIFEST_FILES, OBJECTS};

#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    #[error(
        "package '{folder}' has no manifests: put its Kubernetes objects into files like '{folder}/manifests/objects.yaml'"
    )]
    NoManifests { folder: String },
    #[error("package '{folder}' has no object in its manifests; all of their documents are empty")]
    NoObjects { folder: String },
    #[error("'{file}' does not describe the package in its folder: {reason}")]
    Chart { file: String, reason: String },
    #[error("'{file}' has version {version}, but its folder is for {wanted}; make them the same")]
    OtherVersion {
        file: String,
        version: String,
        wanted: String,
    },
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    #[error(
        "package '{folder}' has more than {MANIFEST_FILES} manifests; put several objects into one file"
    )]
    TooManyFiles { folder: String },
    #[error("package '{folder}' has more than {OBJECTS} objects; divide it into several packages")]
    TooManyObjects { folder: String },
    #[error("the schema of package '{name}' cannot be written; shorten its description")]
    Schema { name: String, source: WriteError },
}
