//! Why a command failed, and the exit code that says so to programs.

mod sources;

pub use sources::Sources;

use std::path::PathBuf;

use common::api::error::{ErrorBody, ErrorCode};
use common::client::ClientError;
use common::duration;
use common::model::{DeploymentName, NameError, Operation, OperationId, Rollback};
use common::registry::oci::OciError;

use crate::authoring::package::PackageError;
use crate::authoring::package::signer::SignError;
use crate::authoring::publish::{GitError, PublishError};
use crate::authoring::version::ReleaseError;
use crate::bundle::BundleError;
use crate::bundle::archive::ArchiveError;
use crate::client::identity::IdentityError;
use crate::client::target::properties::PropertyError;
use crate::install::InstallationError;
use crate::local::LocalError;
use crate::terminal::format::OutputError;

/// How the program ends. The numbers are a promise to scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitCode {
    Done = 0,
    Failed = 1,
    Usage = 2,
    NotFound = 3,
    Conflict = 4,
    Unavailable = 5,
    Timeout = 6,
    /// By Ctrl-C, as shells number it.
    Interrupted = 130,
}

impl ExitCode {
    pub const fn code(self) -> u8 {
        self as u8
    }
}

/// The one table of what an error of the services means to scripts.
pub const fn exit_code(code: ErrorCode) -> ExitCode {
    match code {
        ErrorCode::InvalidRequest
        | ErrorCode::InvalidConfiguration
        | ErrorCode::InvalidSchema
        | ErrorCode::InvalidProperties
        | ErrorCode::InvalidReference
        | ErrorCode::TemplateFailed
        | ErrorCode::TemplateTimeout
        | ErrorCode::TemplateMemory
        | ErrorCode::TemplateOutput
        | ErrorCode::TemplateFuel
        | ErrorCode::TemplateForbidden
        | ErrorCode::TemplateImport
        | ErrorCode::TemplateCrashed
        | ErrorCode::TemplateBlocked
        | ErrorCode::PatternTooCostly
        | ErrorCode::YamlTooLarge
        | ErrorCode::TooDeep
        | ErrorCode::TemplateUntrusted
        | ErrorCode::TooManyResources
        | ErrorCode::TooManyReferences
        | ErrorCode::InvalidBackup
        | ErrorCode::UnknownType
        | ErrorCode::Unauthenticated
        | ErrorCode::Forbidden
        | ErrorCode::MethodNotAllowed
        | ErrorCode::PayloadTooLarge
        | ErrorCode::UriTooLong
        | ErrorCode::HeadersTooLarge
        | ErrorCode::QuotaExceeded
        | ErrorCode::UnsupportedMediaType
        | ErrorCode::ResourcesFailed
        | ErrorCode::PermissionsMissing
        | ErrorCode::DeletesNotAllowed
        | ErrorCode::IdempotencyConflict
        | ErrorCode::OperationStopped
        | ErrorCode::Internal => ExitCode::Failed,
        ErrorCode::NotFound | ErrorCode::TemplateNotFound => ExitCode::NotFound,
        ErrorCode::AlreadyExists
        | ErrorCode::InUse
        | ErrorCode::StoreNotEmpty
        | ErrorCode::OperationRunning
        | ErrorCode::NeverApplied
        | ErrorCode::Superseded
        | ErrorCode::NothingRunning
        | ErrorCode::PreconditionFailed => ExitCode::Conflict,
        ErrorCode::RegistryUnavailable
        | ErrorCode::ExpanderUnavailable
        | ErrorCode::DeployerUnavailable
        | ErrorCode::ClusterUnavailable
        | ErrorCode::TooManyRequests
        | ErrorCode::Unavailable => ExitCode::Unavailable,
        ErrorCode::RequestTimeout | ErrorCode::Timeout => ExitCode::Timeout,
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line itself is wrong.
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Properties(#[from] PropertyError),
    #[error(transparent)]
    Name(#[from] NameError),
    #[error(transparent)]
    Bundle(#[from] BundleError),
    #[error("{file}: {error}")]
    Archive { file: String, error: ArchiveError },
    #[error("{0}")]
    Configuration(String),
    #[error(transparent)]
    Service(#[from] ClientError),
    #[error(transparent)]
    Identity(#[from] IdentityError),
    #[error(transparent)]
    Local(#[from] LocalError),
    /// A service refused what was made of local files.
    #[error("{doing}: {body}")]
    Refused {
        doing: String,
        body: Box<ErrorBody>,
        sources: Sources,
        /// The operation that ended so, where one was begun.
        operation: Option<Box<Operation>>,
    },
    #[error("{name} is Failed{}", listed(errors))]
    DeploymentFailed {
        name: DeploymentName,
        errors: Vec<String>,
    },
    /// What was previewed or compared shows resources that the cluster would refuse.
    #[error("{name}: {failing} would fail", failing = counted(*failing))]
    WouldFail {
        name: DeploymentName,
        failing: usize,
    },
    #[error("{}: {error}", path.display())]
    File {
        path: PathBuf,
        error: std::io::Error,
    },
    #[error(transparent)]
    Installation(InstallationError),
    #[error(transparent)]
    Package(#[from] PackageError),
    #[error(transparent)]
    Release(#[from] ReleaseError),
    #[error(transparent)]
    Sign(#[from] SignError),
    #[error(transparent)]
    Publish(#[from] PublishError),
    #[error("{program}: {said}")]
    Kubectl { program: String, said: String },
    #[error("the store is damaged; see the problems above, and restore it from a backup")]
    Damaged,
    #[error("{0}")]
    Missing(String),
    #[error("{what} did not finish within {}", duration::told(*within))]
    TimedOut {
        what: String,
        within: std::time::Duration,
        operation: Option<OperationId>,
    },
    /// Of several registries that were asked at once.
    #[error("registry {registry} has not answered within {}", duration::told(*within))]
    Slow {
        registry: String,
        within: std::time::Duration,
    },
    #[error("the manager has been away for {} while {operation} ran: {error}", duration::told(*away))]
    Lost {
        operation: OperationId,
        away: std::time::Duration,
        error: ClientError,
    },
    #[error("interrupted; operation {operation} goes on")]
    Interrupted {
        operation: OperationId,
        deployment: DeploymentName,
    },
    /// A live test by Ctrl-C; nothing is left of it.
    #[error("interrupted; {removed}, which the test had deployed, is removed")]
    TestInterrupted { removed: DeploymentName },
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl From<InstallationError> for Failure {
    fn from(error: InstallationError) -> Self {
        match error {
            InstallationError::Expand(error) => Self::Local(error),
            InstallationError::Output(error) => Self::Output(error),
            other => Self::Installation(other),
        }
    }
}

fn counted(resources: usize) -> String {
    match resources {
        1 => "one resource".to_owned(),
        _ => format!("{resources} resources"),
    }
}

fn listed(errors: &[String]) -> String {
    errors.iter().map(|error| format!("\n  {error}")).collect()
}

impl Failure {
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) | Self::Properties(_) | Self::Name(_) => ExitCode::Usage,
            Self::Bundle(_)
            | Self::Archive { .. }
            | Self::Configuration(_)
            | Self::WouldFail { .. }
            | Self::File { .. }
            | Self::Installation(_)
            | Self::Package(_)
            | Self::Release(_)
            | Self::Sign(_)
            | Self::Kubectl { .. }
            | Self::Damaged
            | Self::DeploymentFailed { .. } => ExitCode::Failed,
            Self::Identity(IdentityError::InClear { .. } | IdentityError::HalfACertificate) => {
                ExitCode::Usage
            }
            Self::Service(error) | Self::Identity(IdentityError::Client(error)) => of_client(error),
            Self::Identity(_) => ExitCode::Failed,
            Self::Local(LocalError::Answered(body)) => exit_code(body.code),
            Self::Local(LocalError::Unresolved(_)) => ExitCode::Failed,
            Self::Local(_) => ExitCode::Unavailable,
            Self::Refused { body, .. } => exit_code(body.code),
            Self::Missing(_) => ExitCode::NotFound,
            Self::Publish(error) => of_publication(error),
            Self::TimedOut { .. } => ExitCode::Timeout,
            Self::Lost { .. } | Self::Slow { .. } => ExitCode::Unavailable,
            Self::Interrupted { .. } | Self::TestInterrupted { .. } => ExitCode::Interrupted,
            Self::Output(OutputError::Write(error))
                if error.kind() == std::io::ErrorKind::BrokenPipe =>
            {
                ExitCode::Done
            }
            Self::Output(_) => ExitCode::Failed,
        }
    }

    /// The body of a service's answer, if that is what it is.
    pub fn body(&self) -> Option<&ErrorBody> {
        match self {
            Self::Refused { body, .. }
            | Self::Service(ClientError::Answered(body))
            | Self::Local(LocalError::Answered(body)) => Some(body),
            _ => None,
        }
    }

    /// What to do next.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Service(ClientError::Unreachable { .. } | ClientError::InvalidUrl { .. }) => {
                Some("set --service or DM_SERVICE to where the manager listens".to_owned())
            }
            Self::Service(ClientError::Untrusted { .. }) => {
                Some("--ca-file names the authority that the manager is known by".to_owned())
            }
            Self::Service(ClientError::CertificateRefused { .. }) => Some(
                "give one that the manager's --client-ca has signed, with --client-cert and \
                 --client-key, or one of the kubeconfig"
                    .to_owned(),
            ),
            Self::Local(LocalError::NoProgram) => Some(
                "install expandybird and expandybird-worker beside dm, or let the manager expand: \
                 leave --local out"
                    .to_owned(),
            ),
            Self::Lost { operation, .. } => Some(wait(operation)),
            Self::Interrupted {
                operation,
                deployment,
            } => Some(format!(
                "dm wait {operation} follows it again, dm stop {deployment} stops it"
            )),
            Self::TimedOut {
                operation: Some(operation),
                ..
            } => Some(wait(operation)),
            Self::TimedOut {
                operation: None, ..
            } => Some("give it more time with --timeout".to_owned()),
            Self::Slow { registry, .. } => Some(format!("dm templates {registry} waits for it")),
            Self::DeploymentFailed { name, .. } => Some(format!(
                "see dm status {name}; correct it with dm update, or dm delete {name}"
            )),
            Self::Refused {
                body,
                operation: Some(operation),
                ..
            } => hint_of_operation(operation, body.code),
            _ => self
                .body()
                .and_then(|body| hint_of_code(body.code))
                .map(str::to_owned),
        }
    }
}

/// What to do next about a deployment whose operation failed.
fn hint_of_operation(operation: &Operation, code: ErrorCode) -> Option<String> {
    let name = operation.deployment.as_str();
    match &operation.rollback {
        Some(Rollback {
            error: None, to, ..
        }) => Some(match to {
            Some(_) => format!("{name} is as it was before; correct what failed, and repeat it"),
            None => format!("nothing is left of {name}; correct what failed, and repeat it"),
        }),
        _ => hint_of_code(code).map(|hint| hint.replace("NAME", name)),
    }
}

fn wait(operation: &OperationId) -> String {
    format!("dm wait {operation}")
}

fn of_client(error: &ClientError) -> ExitCode {
    match error {
        ClientError::Answered(body) => exit_code(body.code),
        ClientError::Unreachable { .. }
        | ClientError::BrokenOff { .. }
        | ClientError::Untrusted { .. }
        | ClientError::CertificateRefused { .. } => ExitCode::Unavailable,
        ClientError::TimedOut { .. } => ExitCode::Timeout,
        ClientError::Malformed { .. }
        | ClientError::TooLarge { .. }
        | ClientError::NoToken { .. } => ExitCode::Failed,
        ClientError::InvalidUrl { .. } => ExitCode::Usage,
    }
}

fn of_publication(error: &PublishError) -> ExitCode {
    match error {
        PublishError::Target { .. } | PublishError::Collection(_) | PublishError::Path(_) => {
            ExitCode::Usage
        }
        PublishError::Taken { .. }
        | PublishError::SameVersion { .. }
        | PublishError::Git(GitError::Overtaken) => ExitCode::Conflict,
        PublishError::Oci(error) if matches!(**error, OciError::Transport(_)) => {
            ExitCode::Unavailable
        }
        _ => ExitCode::Failed,
    }
}

/// Where the command line knows a next step that a service cannot.
const fn hint_of_code(code: ErrorCode) -> Option<&'static str> {
    match code {
        ErrorCode::AlreadyExists => {
            Some("choose another name; dm update changes a deployment that exists")
        }
        ErrorCode::OperationRunning => {
            Some("see dm operations, and wait for it with dm wait OPERATION")
        }
        ErrorCode::NotFound => {
            Some("dm list, dm operations, dm registries and dm getcredential show what there is")
        }
        ErrorCode::TemplateNotFound => Some("dm templates shows the templates and their versions"),
        ErrorCode::InvalidProperties => {
            Some("dm describe TEMPLATE:VERSION shows what a template takes")
        }
        ErrorCode::ResourcesFailed => {
            Some("see dm status NAME; correct it with dm update, or dm delete NAME")
        }
        ErrorCode::DeletesNotAllowed => {
            Some("see what it would delete with dm diff; allow it with --allow-deletes")
        }
        ErrorCode::PreconditionFailed => {
            Some("somebody changed it since you looked: preview or read it again")
        }
        ErrorCode::OperationStopped => {
            Some("see dm status NAME; go on with dm update, dm rollback or dm delete")
        }
        ErrorCode::NeverApplied => Some(
            "commit the preview with dm update NAME --commit; dm manifest NAME lists the manifests",
        ),
        ErrorCode::NothingRunning => Some("dm operations NAME shows what was done"),
        ErrorCode::Timeout => {
            Some("see dm status NAME for what is missing; give it more time with --timeout")
        }
        ErrorCode::Unauthenticated => Some(
            "give a token in DM_TOKEN or --token-file, or a kubeconfig with one or, over https, with a certificate (see kubectl config current-context)",
        ),
        ErrorCode::Forbidden | ErrorCode::PermissionsMissing => {
            Some("dm whoami shows as whom you asked")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_exit_codes_is_a_promise() {
        let table: Vec<_> = ErrorCode::ALL
            .iter()
            .map(|&code| format!("{} {:?} {code}", exit_code(code).code(), exit_code(code)))
            .collect();
        insta::assert_snapshot!(table.join("\n"));
    }

    #[test]
    fn what_to_do_next_names_the_deployment_and_knows_that_it_went_back() {
        let hint = |rollback: serde_json::Value| {
            let operation = serde_json::json!({
                "id": "op-1", "type": "UPDATE", "deployment": "web", "user": "ada", "status": "DONE",
                "progress": {"step": "applying", "done": 0, "total": 1},
                "startTime": "2026-01-01T00:00:00Z", "rollback": rollback,
            });
            let operation = serde_json::from_value(operation).unwrap();
            hint_of_operation(&operation, ErrorCode::ResourcesFailed).unwrap()
        };
        let stays = hint(serde_json::Value::Null);
        assert!(stays.starts_with("see dm status web;"), "{stays}");
        let back = hint(serde_json::json!({"to": "manifest-1"}));
        assert!(back.starts_with("web is as it was before"), "{back}");
        let removed = hint(serde_json::json!({}));
        assert!(removed.starts_with("nothing is left of web"), "{removed}");
    }

    #[test]
    fn a_reader_that_has_seen_enough_is_no_failure() {
        let gone = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        assert_eq!(
            Failure::Output(OutputError::Write(gone)).exit_code(),
            ExitCode::Done
        );
    }
}
