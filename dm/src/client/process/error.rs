//! Why a Template cannot be processed.

use common::api::error::ErrorBody;
use common::client::ClientError;
use expandybird_templateobject::Faults;

use crate::error::{CommandError, ExitCode, Failure};

#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    #[error("{}", .0.iter().map(|name| format!("unknown parameter name {name:?}")).collect::<Vec<_>>().join("\n"))]
    Unknown(Vec<String>),
    /// Each fault on a line.
    #[error("unable to process template\n  {}", .0.join("\n  "))]
    Faults(Vec<String>),
    /// As the manager's answer says it.
    #[error("Template.template.openshift.io {name:?} is invalid: {faults}")]
    Invalid { name: String, faults: Faults },
    #[error("this machine gives no random numbers for generated values; process with a manager")]
    NoRandomNumbers,
    /// Every other answer of the manager, or none.
    #[error("{0}")]
    Request(Failure),
}

impl CommandError for ProcessError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Unknown(_) => ExitCode::Usage,
            Self::Faults(_) | Self::Invalid { .. } | Self::NoRandomNumbers => ExitCode::Failed,
            Self::Request(failure) => failure.exit_code(),
        }
    }

    fn body(&self) -> Option<&ErrorBody> {
        match self {
            Self::Request(failure) => failure.body(),
            _ => None,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown(_) => {
                Some("dm process --parameters lists the parameters of a Template".to_owned())
            }
            Self::Request(failure) => failure.hint(),
            _ => None,
        }
    }
}

impl From<ClientError> for ProcessError {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Answered(body) if !body.causes.is_empty() => {
                let causes = body.causes.into_iter();
                Self::Faults(causes.map(|cause| cause.message).collect())
            }
            error => Self::Request(error.into()),
        }
    }
}
