//! Why a call failed.

pub mod forbidden;
pub mod redact;
pub mod status;

use common::api::error::{ErrorBody, ErrorCode};

use super::gate::Halt;

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KubectlError {
    #[error("kubectl cannot be run ({program}: {reason}); install it, or name it with --kubectl")]
    Missing { program: String, reason: String },
    #[error("the Kubernetes API server cannot be used: {0}")]
    Unreachable(String),
    #[error("the Kubernetes API server did not answer within {seconds} s ({call})")]
    TimedOut { call: &'static str, seconds: u64 },
    #[error("the answer to {call} is larger than {limit} MiB")]
    TooMuch { call: &'static str, limit: usize },
    #[error("there are more than {limit} such objects; ask for fewer")]
    TooMany { limit: usize },
    #[error("the answer to {call} is not understood: {reason}")]
    Malformed { call: &'static str, reason: String },
    /// The job must not continue: the call was not made, or its answer was not awaited.
    #[error(transparent)]
    Halted(#[from] Halt),
    /// The API server's own answer.
    #[error(transparent)]
    Object(#[from] ObjectError),
}

impl KubectlError {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Missing { .. } | Self::Unreachable(_) | Self::TimedOut { .. } => {
                ErrorCode::ClusterUnavailable
            }
            Self::Object(error) => match error.fault {
                ObjectFault::Transient
                | ObjectFault::Unserved
                | ObjectFault::Changed
                | ObjectFault::Exists => ErrorCode::ClusterUnavailable,
                ObjectFault::Refused
                | ObjectFault::Invalid
                | ObjectFault::Missing
                | ObjectFault::OtherUid
                | ObjectFault::Conflict => ErrorCode::ResourcesFailed,
                ObjectFault::Forbidden => ErrorCode::Forbidden,
            },
            Self::Halted(halt) => halt.code(),
            Self::TooMany { .. } => ErrorCode::InvalidRequest,
            Self::TooMuch { .. } | Self::Malformed { .. } => ErrorCode::Internal,
        }
    }

    /// Whether the error is independent of the object: the same call may succeed later, or in a job that continues.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Halted(_)) || self.code() == ErrorCode::ClusterUnavailable
    }

    /// The API server's objection to this object, if that is the error.
    pub fn fault(&self) -> Option<ObjectFault> {
        match self {
            Self::Object(error) => Some(error.fault),
            _ => None,
        }
    }

    /// Whether another client wrote first, so that the object must be read again.
    pub fn is_lost_race(&self) -> bool {
        matches!(
            self.fault(),
            Some(ObjectFault::Changed | ObjectFault::Exists)
        )
    }

    /// The fields that other managers own, if they are the reason.
    pub fn conflicts(&self) -> &[Cause] {
        match self {
            Self::Object(error) if error.fault == ObjectFault::Conflict => &error.causes,
            _ => &[],
        }
    }
}

impl Halt {
    /// The answer to the caller: try again, or stopped.
    pub fn code(self) -> ErrorCode {
        match self {
            Self::CallerGone | Self::Expired => ErrorCode::DeployerUnavailable,
            Self::Stopped => ErrorCode::OperationStopped,
            Self::Superseded => ErrorCode::Superseded,
        }
    }
}

impl From<Halt> for ErrorBody {
    fn from(halt: Halt) -> Self {
        let message = format!("{halt}, so nothing more was changed");
        ErrorBody::new(halt.code(), message)
    }
}

impl From<KubectlError> for ErrorBody {
    fn from(error: KubectlError) -> Self {
        ErrorBody::new(error.code(), error.to_string())
    }
}

/// Why the API server rejected the request, in its words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct ObjectError {
    pub fault: ObjectFault,
    pub text: String,
    /// The faulty fields, if the API server lists them.
    pub causes: Vec<Cause>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectFault {
    /// The API server rejects it, also on the next try.
    Refused,
    /// The API server's validation rejects values or changes of fields. Each field is one of the causes.
    Invalid,
    /// The caller lacks a permission.
    Forbidden,
    /// The object does not exist, or its namespace does not.
    Missing,
    /// There is an object of that name, but with another UID.
    OtherUid,
    /// The object does not match the precondition, because another client wrote first. Read it again.
    Changed,
    /// An object of that name already exists.
    Exists,
    /// Other field managers own some of its fields. Each field is one of the causes.
    Conflict,
    /// The API server does not serve the kind, or not yet.
    Unserved,
    /// The API server is unreachable, overloaded, or out of date.
    Transient,
}

/// One faulty field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// The API server's reason, such as `FieldManagerConflict` or `FieldValueRequired`.
    pub reason: String,
    /// As the API server writes it: `.spec.replicas` for a conflict, `spec.replicas` for an invalid value.
    pub field: String,
    pub message: String,
}
