//! What can be wrong with a package.

use crate::yaml::{WriteError, YamlError};

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
    #[error(
        "'{file}' says that its version is {version}, and its folder is {wanted}'s; make them the same"
    )]
    OtherVersion {
        file: String,
        version: String,
        wanted: String,
    },
    #[error("manifest '{file}' cannot be read: {source}")]
    Yaml {
        file: String,
        source: Box<YamlError>,
    },
    #[error("manifest '{file}' has no Kubernetes object in its {place}: {reason}")]
    Object {
        file: String,
        place: String,
        reason: String,
    },
    #[error("package '{folder}' has the object {object} twice; remove one")]
    SameObject { folder: String, object: String },
    #[error(
        "package '{folder}' has more than {MANIFEST_FILES} manifests; put several objects into one file"
    )]
    TooManyFiles { folder: String },
    #[error("package '{folder}' has more than {OBJECTS} objects; divide it into several packages")]
    TooManyObjects { folder: String },
    #[error("package '{folder}' cannot be made a template")]
    Write { folder: String, source: WriteError },
}
