//! Reads and checks the folder `<template>/<version>/` of an author.
//!
//! Responsible for the rules of such a folder (see docs/authors/publishing.md), all faults of which are reported together, and
//! for its signature. Refuses to know registries ([`crate::authoring::publish`]) and expansion.

mod check;
pub mod command;
mod example;
pub mod folder;
mod seal;
pub mod signer;

use std::path::{Path, PathBuf};

use common::model::Version;
use common::registry::sums::{FILE, MINISIG, SIG};

pub use crate::authoring::version::VersionFiles;
use crate::error::CommandError;
pub use seal::seal;

/// A version that may be published.
#[derive(Debug)]
pub struct CheckedVersion {
    pub template: String,
    /// As in the name of its folder.
    pub version: String,
    pub number: Version,
    pub files: VersionFiles,
}

#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error("{} cannot be read: {source}", path.display())]
    Folder {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{} cannot be published; correct these faults:{}", folder.display(), listed(faults))]
    Faulty {
        folder: PathBuf,
        faults: Vec<String>,
    },
}

impl CommandError for CheckError {}

/// What to do with a signature in the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signature {
    /// Publish it. It must match the files.
    Kept,
    /// A new one replaces it.
    Replaced,
}

impl CheckedVersion {
    pub fn read(path: &Path, signature: Signature) -> Result<Self, CheckError> {
        let unreadable = |source| CheckError::Folder {
            path: path.to_owned(),
            source,
        };
        let root = path.canonicalize().map_err(unreadable)?;
        let (template, version) = (name_of(root.parent()), name_of(Some(&root)));
        let (mut files, mut faults) = folder::read(&root).map_err(unreadable)?;
        if signature == Signature::Replaced {
            files.retain(|path, _| !is_of_signature(path.as_str()));
        }
        faults.extend(check::faults(&template, &version, &files));
        match version.parse() {
            Ok(number) if faults.is_empty() => Ok(Self {
                template,
                version,
                number,
                files,
            }),
            _ => Err(CheckError::Faulty {
                folder: root,
                faults,
            }),
        }
    }

    /// `redis:v1.0.1`.
    pub fn reference(&self) -> String {
        format!("{}:{}", self.template, self.version)
    }

    pub fn bytes(&self) -> usize {
        self.files.values().map(Vec::len).sum()
    }

    pub fn is_signed(&self) -> bool {
        self.files.keys().any(|path| {
            let path = path.as_str();
            path != FILE && is_of_signature(path)
        })
    }
}

fn name_of(path: Option<&Path>) -> String {
    path.and_then(Path::file_name)
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// Whether a file is the list of files, or a signature of it.
fn is_of_signature(path: &str) -> bool {
    let ending = path.strip_prefix(FILE);
    ending.is_some_and(|ending| ["", MINISIG, SIG].contains(&ending))
}

fn listed(faults: &[String]) -> String {
    let fault = |fault: &String| format!("\n  {}", fault.replace('\n', "\n    "));
    faults.iter().map(fault).collect()
}

#[cfg(test)]
mod tests;
