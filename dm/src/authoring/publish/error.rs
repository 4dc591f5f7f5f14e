//! Why a version could not be published.

use std::path::PathBuf;

use common::registry::PathError;
use common::registry::oci::OciError;
use common::registry::oci::direct::DirectError;

use super::git_command::GitError;
use crate::authoring::version::VersionError;
use crate::error::{CommandError, ExitCode};

#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    #[error("cannot publish to {target:?}: {reason}")]
    Target { target: String, reason: String },
    #[error(
        "{version} is already published with different content ({}); a published version never changes: publish this as the next PATCH", different.join(", ")
    )]
    Taken {
        version: String,
        different: Vec<String>,
    },
    #[error("{version} is already published as {other}: omitted parts of a version are zero")]
    SameVersion { version: String, other: String },
    #[error(
        "{version} is not published, because it breaks what {before} promised:{}\npublish it as {next}, or unchanged with --no-compare",
        listed(violations)
    )]
    Broken {
        version: String,
        before: String,
        violations: Vec<String>,
        /// The folder of the next version that may make these changes.
        next: String,
    },
    #[error(transparent)]
    TemplateVersion(#[from] VersionError),
    #[error("the registry's registry.yaml cannot be read: {}", faults.join("; "))]
    Metadata { faults: Vec<String> },
    #[error(
        "{0:?} is not a name of a collection: a name has no '/'; registry.yaml maps names to folders"
    )]
    Collection(String),
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("{}: {source}", path.display())]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{} is a link, and the manager follows no links in a registry; use a folder", .0.display())]
    Link(PathBuf),
    #[error("'{path}' in the registry is {what}")]
    Unusual { path: String, what: String },
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Oci(Box<OciError<DirectError>>),
    #[error("'{version}' in the registry is not a template: {reason}")]
    Artifact { version: String, reason: String },
    #[error(
        "OCI registries do not accept the name '{0}'; use small letters and digits, with single '.', '_' or '-' between them"
    )]
    Unnameable(String),
}

impl CommandError for PublishError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Target { .. } | Self::Collection(_) | Self::Path(_) => ExitCode::Usage,
            Self::Taken { .. } | Self::SameVersion { .. } | Self::Git(GitError::Overtaken) => {
                ExitCode::Conflict
            }
            Self::Oci(error) if matches!(**error, OciError::Transport(_)) => ExitCode::Unavailable,
            _ => ExitCode::Failed,
        }
    }
}

fn listed(violations: &[String]) -> String {
    let line = |violation: &String| format!("\n  {violation}");
    violations.iter().map(line).collect()
}

impl From<OciError<DirectError>> for PublishError {
    fn from(error: OciError<DirectError>) -> Self {
        Self::Oci(Box::new(error))
    }
}
