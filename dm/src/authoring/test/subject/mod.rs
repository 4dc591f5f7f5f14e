//! What is tested: a template version with its example, and the previous version.
//!
//! It comes from a folder ([`folder`]) or a registry ([`registry`]). Refuses to know which checks run on it.

pub mod folder;
pub mod registry;

use crate::authoring::version::{TemplateVersion, VersionError};
use crate::bundle::Bundle;
use crate::error::Failure;

pub struct TestSubject {
    /// Its name in messages.
    pub shown: String,
    /// Its example with its files, or the reason why there is none.
    pub example: Result<Bundle, String>,
    pub promises: Previous,
}

/// The version to compare with.
pub enum Previous {
    /// None, for this reason.
    None(String),
    /// The highest lower version, and the version itself.
    Version(Box<[TemplateVersion; 2]>),
}

impl Previous {
    fn first() -> Self {
        Self::None("there is no previous version".to_owned())
    }
}

/// A missing example is a result of the test. Any other error is a failure.
fn tried(bundle: Result<Bundle, VersionError>) -> Result<Result<Bundle, String>, Failure> {
    match bundle {
        Ok(bundle) => Ok(Ok(bundle)),
        Err(error @ (VersionError::NoExample(_) | VersionError::NoInstance(_))) => {
            Ok(Err(error.to_string()))
        }
        Err(error) => Err(error.into()),
    }
}
