//! Why a call did not succeed.

use common::api::error::{ErrorBody, ErrorCode};

use super::gate::Halt;

/// Why a call brought no result.
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
    /// The call was not made, or its answer was not waited for, because the job may not go on.
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

    /// Whether it says nothing of the object: the same call may succeed a little later, or where the job goes on.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Halted(_)) || self.code() == ErrorCode::ClusterUnavailable
    }

    /// What the API server has against this very object, if it is that.
    pub fn fault(&self) -> Option<ObjectFault> {
        match self {
            Self::Object(error) => Some(error.fault),
            _ => None,
        }
    }

    /// Whether somebody else wrote first, so that what was read does not count any more.
    pub fn is_lost_race(&self) -> bool {
        matches!(
            self.fault(),
            Some(ObjectFault::Changed | ObjectFault::Exists)
        )
    }

    /// The fields that other managers own, if that is why.
    pub fn conflicts(&self) -> &[Cause] {
        match self {
            Self::Object(error) if error.fault == ObjectFault::Conflict => &error.causes,
            _ => &[],
        }
    }
}

impl Halt {
    /// What the caller is answered: whether to try again, or that it is over.
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

/// Why the API server did not do what it was asked, in its words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct ObjectError {
    pub fault: ObjectFault,
    pub text: String,
    /// What is wrong with which field, where it says so.
    pub causes: Vec<Cause>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectFault {
    /// The API server does not take it, and will not on the next try.
    Refused,
    /// The API server's validation refuses values or changes of fields; each field is one of the causes.
    Invalid,
    /// The caller lacks the right.
    Forbidden,
    /// There is no such object, or not the namespace that it is to be in.
    Missing,
    /// An object of that name is there, but with another UID.
    OtherUid,
    /// The object is not as the precondition says: somebody else wrote first. Read it again.
    Changed,
    /// An object of that name exists already.
    Exists,
    /// Other field managers own fields of it; each is one of the causes.
    Conflict,
    /// The API server does not serve the kind, or not yet.
    Unserved,
    /// The API server is away, overloaded, or has not caught up.
    Transient,
}

/// One field that is at fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// The API server's word for it, such as `FieldManagerConflict` or `FieldValueRequired`.
    pub reason: String,
    /// As the API server writes it: `.spec.replicas` in a conflict, `spec.replicas` where a value is invalid.
    pub field: String,
    pub message: String,
}
