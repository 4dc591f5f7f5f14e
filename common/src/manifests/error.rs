//! What can be wrong with a file of Kubernetes objects, and where.

use std::fmt;

use crate::yaml::{Pointer, YamlError};

/// The location of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectLocation {
    /// The user's name for the file.
    pub file: String,
    /// The line where the object's document begins, from 1.
    pub line: usize,
    pub pointer: Pointer,
}

impl fmt::Display for ObjectLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        let items = self.pointer.path.split("/items/").skip(1);
        items
            .into_iter()
            .try_for_each(|index| write!(f, ", items[{index}]"))
    }
}

/// Why the objects of a text cannot be deployed.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    #[error("'{file}' cannot be read: {source}")]
    Yaml {
        file: String,
        source: Box<YamlError>,
    },
    #[error("{place} is not a Kubernetes object: {reason}")]
    Object {
        place: ObjectLocation,
        reason: String,
    },
    #[error("the object {object} is in {first} and again in {second}; remove one")]
    SameObject {
        /// Its kind and name.
        object: String,
        first: ObjectLocation,
        second: ObjectLocation,
    },
}

impl ManifestError {
    /// The file of the fault, and its line from 1.
    pub fn location(&self) -> (&str, usize) {
        match self {
            Self::Yaml { file, source } => (file, source.location.line),
            Self::Object { place, .. } | Self::SameObject { second: place, .. } => {
                (&place.file, place.line)
            }
        }
    }
}
