//! What is tested: a template's version with its example, and the version before it.
//!
//! Read from a folder ([`folder`]) or asked for at a registry ([`registry`]). Refuses to know what is tested of it.

pub mod folder;
pub mod registry;

use crate::authoring::version::{TemplateVersion, VersionError};
use crate::bundle::Bundle;
use crate::error::Failure;

pub struct TestSubject {
    /// What messages call it.
    pub shown: String,
    /// Its example, to be expanded with it; the reason, if there is none that can be.
    pub example: Result<Bundle, String>,
    pub promises: Previous,
}

/// What there is to compare a version with.
pub enum Previous {
    /// Nothing, for this reason.
    None(String),
    /// The highest version below it, and itself.
    Version(Box<[TemplateVersion; 2]>),
}

impl Previous {
    fn first() -> Self {
        Self::None("there is no version before it".to_owned())
    }
}

/// That there is no example to be expanded is the test's result, and all else is a failure.
fn tried(bundle: Result<Bundle, VersionError>) -> Result<Result<Bundle, String>, Failure> {
    match bundle {
        Ok(bundle) => Ok(Ok(bundle)),
        Err(error @ (VersionError::NoExample(_) | VersionError::NoInstance(_))) => {
            Ok(Err(error.to_string()))
        }
        Err(error) => Err(error.into()),
    }
}
