//! Why a call, or one object of a call, did not succeed.

use common::api::error::{ErrorBody, ErrorCode};

/// Why a call as a whole brought no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KubectlError {
    #[error("kubectl cannot be run ({program}: {reason}); install it, or name it with --kubectl")]
    Missing { program: String, reason: String },
    #[error("the Kubernetes API server cannot be used: {0}")]
    Unreachable(String),
    #[error("`kubectl {call}` was stopped after {seconds} s without an end")]
    TimedOut { call: &'static str, seconds: u64 },
    #[error("`kubectl {call}` wrote more than {limit} MiB")]
    TooMuch { call: &'static str, limit: usize },
    #[error("`kubectl {call}` failed: {text}")]
    Failed { call: &'static str, text: String },
    #[error("the output of `kubectl {call}` is not understood: {reason}")]
    Malformed { call: &'static str, reason: String },
}

impl KubectlError {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Missing { .. } | Self::Unreachable(_) | Self::TimedOut { .. } => {
                ErrorCode::ClusterUnavailable
            }
            Self::Failed { .. } => ErrorCode::ResourcesFailed,
            Self::TooMuch { .. } | Self::Malformed { .. } => ErrorCode::Internal,
        }
    }

    /// Whether the same call may succeed a little later.
    pub fn is_transient(&self) -> bool {
        self.code() == ErrorCode::ClusterUnavailable
    }
}

impl From<KubectlError> for ErrorBody {
    fn from(error: KubectlError) -> Self {
        ErrorBody::new(error.code(), error.to_string())
    }
}

/// Why one object did not succeed, in the API server's words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct ObjectError {
    pub fault: ObjectFault,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectFault {
    /// The API server does not take it, and will not on the next try.
    Refused,
    /// Another field manager owns a field of it.
    Conflict,
    /// The API server is away, overloaded, or has not caught up.
    Transient,
}
