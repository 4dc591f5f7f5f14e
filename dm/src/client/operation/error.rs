//! How an operation fails, and how following an operation fails.

use std::time::Duration;

use common::api::error::{ErrorBody, ErrorCode};
use common::client::ClientError;
use common::duration;
use common::model::{DeploymentName, Operation, OperationId, Rollback};

use crate::error::{CommandError, ExitCode, Sources, exit_code, hint_for, hint_for_body};

#[derive(Debug, thiserror::Error)]
pub enum OperationError {
    /// A service refused a request that was made from local files.
    #[error("{doing}: {body}")]
    Refused {
        doing: String,
        body: Box<ErrorBody>,
        sources: Sources,
        /// The operation that ended with this error, if one started.
        operation: Option<Box<Operation>>,
    },
    #[error("{name} is Failed{}", listed(errors))]
    DeploymentFailed {
        name: DeploymentName,
        errors: Vec<String>,
    },
    /// A preview or a comparison shows resources that the cluster would refuse.
    #[error("{name}: {failing} would fail", failing = counted(*failing))]
    WouldFail {
        name: DeploymentName,
        failing: usize,
    },
    #[error("operation {operation} did not finish within {}", duration::render(*within))]
    TimedOut {
        operation: OperationId,
        within: Duration,
    },
    #[error("the manager has been unavailable for {} while operation {operation} ran: {error}", duration::render(*unavailable))]
    Lost {
        operation: OperationId,
        unavailable: Duration,
        error: ClientError,
    },
    #[error("interrupted; operation {operation} goes on")]
    Interrupted {
        operation: OperationId,
        deployment: DeploymentName,
    },
}

impl CommandError for OperationError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Refused { body, .. } => exit_code(body.code),
            Self::DeploymentFailed { .. } | Self::WouldFail { .. } => ExitCode::Failed,
            Self::TimedOut { .. } => ExitCode::Timeout,
            Self::Lost { .. } => ExitCode::Unavailable,
            Self::Interrupted { .. } => ExitCode::Interrupted,
        }
    }

    fn body(&self) -> Option<&ErrorBody> {
        match self {
            Self::Refused { body, .. } => Some(body),
            _ => None,
        }
    }

    fn sources(&self) -> Option<&Sources> {
        match self {
            Self::Refused { sources, .. } => Some(sources),
            _ => None,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Refused {
                body,
                operation: Some(operation),
                ..
            } => hint_for_operation(operation, body.code),
            Self::Refused { body, .. } => hint_for_body(body),
            Self::DeploymentFailed { name, .. } => Some(format!(
                "see dm status {name}; correct it with dm update, or dm delete {name}"
            )),
            Self::TimedOut { operation, .. } | Self::Lost { operation, .. } => {
                Some(format!("dm wait {operation}"))
            }
            Self::Interrupted {
                operation,
                deployment,
            } => Some(format!(
                "dm wait {operation} follows it again, dm stop {deployment} stops it"
            )),
            Self::WouldFail { .. } => None,
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

/// What to do next about a deployment whose operation failed.
fn hint_for_operation(operation: &Operation, code: ErrorCode) -> Option<String> {
    let name = operation.deployment.as_str();
    match &operation.rollback {
        Some(Rollback {
            error: None, to, ..
        }) => Some(match to {
            Some(_) => format!("{name} is as it was before; correct what failed, and repeat it"),
            None => format!("nothing is left of {name}; correct what failed, and repeat it"),
        }),
        _ => hint_for(code).map(|hint| hint.replace("NAME", name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_names_the_deployment_and_knows_that_it_went_back() {
        let hint = |rollback: serde_json::Value| {
            let operation = serde_json::json!({
                "id": "op-1", "type": "UPDATE", "deployment": "web", "user": "ada", "status": "DONE",
                "progress": {"step": "applying", "done": 0, "total": 1},
                "startTime": "2026-01-01T00:00:00Z", "rollback": rollback,
            });
            let operation = serde_json::from_value(operation).unwrap();
            hint_for_operation(&operation, ErrorCode::ResourcesFailed).unwrap()
        };
        let stays = hint(serde_json::Value::Null);
        assert!(stays.starts_with("see dm status web;"), "{stays}");
        let back = hint(serde_json::json!({"to": "manifest-1"}));
        assert!(back.starts_with("web is as it was before"), "{back}");
        let removed = hint(serde_json::json!({}));
        assert!(removed.starts_with("nothing is left of web"), "{removed}");
    }
}
