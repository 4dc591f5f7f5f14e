//! The services that the manager depends on: why a call gave no result, and how each looks in the manager's readiness.

use std::time::Duration;

use common::api::error::{ErrorBody, ErrorCode};
use common::client::ClientError;
use common::server::observe::health::{Check, Readiness};

/// Why a call gave no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The service refused the request, in its own words.
    #[error(transparent)]
    Refused(Box<ErrorBody>),
    #[error(transparent)]
    Expander(ClientError),
    #[error(transparent)]
    Deployer(ClientError),
    #[error("resourcifier did not answer every question of an access review")]
    Unanswered,
}

impl CallError {
    /// What a call to expandybird failed with.
    pub fn of_expander(error: ClientError) -> Self {
        match error {
            ClientError::Answered(body) => Self::Refused(body),
            error => Self::Expander(error),
        }
    }

    /// What a call to resourcifier failed with.
    pub fn of_deployer(error: ClientError) -> Self {
        match error {
            ClientError::Answered(body) => Self::Refused(body),
            error => Self::Deployer(error),
        }
    }
}

impl From<CallError> for Box<ErrorBody> {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused(body) => body,
            CallError::Expander(error) => {
                Self::new(error.into_body(ErrorCode::ExpanderUnavailable))
            }
            CallError::Deployer(error) => {
                Self::new(error.into_body(ErrorCode::DeployerUnavailable))
            }
            CallError::Unanswered => {
                let message = error.to_string();
                Self::new(ErrorBody::new(ErrorCode::DeployerUnavailable, message))
            }
        }
    }
}

/// A service that takes longer to say how it is counts as down.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// Ready if it says so; else down, with what it misses itself.
pub fn check(name: &str, answer: Result<Readiness, ClientError>) -> Check {
    match answer {
        Ok(readiness) if readiness.ready => Check::ready(name, ""),
        Ok(readiness) => {
            let down = readiness.checks.iter().filter(|check| !check.ready);
            let missing: Vec<_> = down
                .map(|check| format!("{}: {}", check.name, check.message))
                .collect();
            Check::down(name, format!("it is not ready: {}", missing.join("; ")))
        }
        Err(error) => Check::down(name, error.to_string()),
    }
}
