//! Why a request fails.

use common::api::error::{ErrorBody, ErrorCode};
use common::server::ApiError;
use manager_registry::RegistryError;

use crate::credentials::VaultError;
use crate::dependency::CallError;
use crate::store::StoreError;
use crate::store::kv::KvError;
use crate::workflow::engine::Suspended;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error for the caller, from here or from another service.
    #[error(transparent)]
    Refused(Box<ErrorBody>),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Registry(#[from] RegistryError),
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error(transparent)]
    Suspended(#[from] Suspended),
}

impl Error {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::Refused(Box::new(ErrorBody::new(code, message)))
    }

    pub fn invalid(error: &dyn std::fmt::Display) -> Self {
        Self::new(ErrorCode::InvalidRequest, error.to_string())
    }
}

impl From<Box<ErrorBody>> for Error {
    fn from(body: Box<ErrorBody>) -> Self {
        Self::Refused(body)
    }
}

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        Self::Refused(error.into())
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(body) => Self(*body),
            Error::Store(error @ (StoreError::PageToken | StoreError::PageLimit)) => {
                Self::new(ErrorCode::InvalidRequest, error.to_string())
            }
            Error::Store(error @ StoreError::NotEmpty) => {
                Self::new(ErrorCode::StoreNotEmpty, error.to_string())
            }
            Error::Store(error @ StoreError::Behind(_)) => {
                Self::new(ErrorCode::ManagersBehind, error.to_string())
            }
            Error::Store(error @ StoreError::Archive(_)) => {
                Self::new(ErrorCode::InvalidBackup, error.to_string())
            }
            Error::Store(
                error @ StoreError::Kv(
                    KvError::Full { .. }
                    | KvError::NoSpace
                    | KvError::Unreachable { .. }
                    | KvError::Unknown
                    | KvError::TakenOver { .. },
                ),
            ) => {
                tracing::error!(%error, "the store takes nothing now");
                Self::new(ErrorCode::Unavailable, error.to_string())
            }
            Error::Store(error @ (StoreError::NotOwner | StoreError::Kv(KvError::NotWhole))) => {
                Self::new(ErrorCode::Unavailable, error.to_string())
            }
            Error::Store(error) => Self::internal(&error),
            Error::Registry(RegistryError::Registrations(error)) => Self::internal(&*error),
            Error::Vault(error @ VaultError::Unknown(_)) => {
                Self::new(ErrorCode::NotFound, error.to_string())
            }
            Error::Vault(error @ VaultError::Unshared { .. }) => {
                Self::new(ErrorCode::ManagersBehind, error.to_string())
            }
            Error::Vault(error) => Self::internal(&error),
            Error::Registry(error) => Self::new(error.code(), error.to_string()),
            Error::Suspended(error) => Self::new(ErrorCode::Unavailable, error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use regex::Regex;

    fn sources(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let below = |path: PathBuf| match path.is_dir() {
            true => sources(&path),
            false => vec![path],
        };
        paths.flat_map(below).collect()
    }

    /// The program's text, and its tests'.
    fn parted() -> (String, String) {
        let (mut program, mut tests) = (String::new(), String::new());
        for file in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            if file.iter().any(|part| part == "tests") {
                tests += &text;
                continue;
            }
            match file.file_name().and_then(|name| name.to_str()) {
                Some("tests.rs" | "conformance.rs" | "seed.rs" | "registered.rs") => tests += &text,
                Some(
                    "alone.rs" | "backend.rs" | "fake.rs" | "slow.rs" | "bed.rs" | "loopback.rs",
                ) => {}
                // What documents codes does not produce them.
                _ if file.iter().any(|part| part == "openapi") => {}
                _ => {
                    let (own, its_tests) = text.split_once("mod tests {").unwrap_or((&text, ""));
                    program += own;
                    tests += its_tests;
                }
            }
        }
        (program, tests)
    }

    #[test]
    fn every_code_that_the_manager_gives_is_asked_for_by_a_test() {
        let (program, tests) = parted();
        let given = Regex::new(r"ErrorCode::([A-Z]\w+)").unwrap();
        let given: BTreeSet<_> = given
            .captures_iter(&program)
            .map(|found| found[1].to_owned())
            .collect();
        let words: BTreeSet<_> = tests.split(|c: char| !c.is_alphanumeric()).collect();
        let untested: Vec<_> = given
            .iter()
            .filter(|code| !words.contains(code.as_str()))
            .collect();
        assert!(untested.is_empty(), "no test asks for {untested:?}");
    }
}
