//! Why a call to a service brought no result.

use std::time::Duration;

use crate::api::error::{ErrorBody, ErrorCode};
use crate::duration;
use crate::json::TooLarge;

/// The longest wait that a service's answer brings about.
const MOST: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// The service answered, with an error of its own.
    #[error("{0}")]
    Answered(Box<ErrorBody>),
    #[error("{service} at {url} cannot be reached: {reason}; is it running?")]
    Unreachable {
        service: &'static str,
        url: String,
        reason: String,
    },
    #[error("{service} at {url} did not answer within {}", duration::told(*deadline))]
    TimedOut {
        service: &'static str,
        url: String,
        deadline: Duration,
    },
    /// The connection broke while the answer was on its way.
    #[error("{service} at {url} broke off its answer: {reason}")]
    BrokenOff {
        service: &'static str,
        url: String,
        reason: String,
    },
    #[error(
        "{service} at {url} gave an answer that is not understood: {reason}; do the versions match?"
    )]
    Malformed {
        service: &'static str,
        url: String,
        reason: String,
    },
    #[error("{service} at {url} gave an answer that is too large: {reason}")]
    TooLarge {
        service: &'static str,
        url: String,
        reason: TooLarge,
    },
    #[error("{url:?} is not a service's address: {reason}")]
    InvalidUrl { url: String, reason: String },
    /// There was a token, and there is none to take its place.
    #[error("there is no token to show to {service}: {reason}")]
    NoToken {
        service: &'static str,
        reason: String,
    },
    #[error("the certificate of {service} at {url} is not trusted: {reason}")]
    Untrusted {
        service: &'static str,
        url: String,
        reason: String,
    },
    #[error("{service} at {url} refuses the client's certificate: {reason}")]
    CertificateRefused {
        service: &'static str,
        url: String,
        reason: &'static str,
    },
}

impl ClientError {
    /// The body to pass on to one's own caller. `unavailable` is the code for a service that cannot be reached.
    pub fn into_body(self, unavailable: ErrorCode) -> ErrorBody {
        match self {
            Self::Answered(body) => *body,
            Self::TimedOut { .. } => ErrorBody::new(ErrorCode::Timeout, self.to_string()),
            Self::Unreachable { .. }
            | Self::BrokenOff { .. }
            | Self::Untrusted { .. }
            | Self::CertificateRefused { .. } => ErrorBody::new(unavailable, self.to_string()),
            Self::TooLarge { .. } => ErrorBody::new(ErrorCode::PayloadTooLarge, self.to_string()),
            Self::Malformed { .. } | Self::InvalidUrl { .. } | Self::NoToken { .. } => {
                ErrorBody::new(ErrorCode::Internal, self.to_string())
            }
        }
    }

    /// Whether a later try may fare better: the service is away or overloaded, nothing is wrong with the request.
    pub fn is_transient(&self) -> bool {
        match self {
            // The manager has asked the registry more than once, and leaves it alone for a while.
            Self::Answered(body) if body.code == ErrorCode::RegistryUnavailable => false,
            Self::Answered(body) => matches!(body.code.status(), 429 | 503),
            Self::Unreachable { .. } | Self::BrokenOff { .. } => true,
            Self::TimedOut { .. }
            | Self::Malformed { .. }
            | Self::TooLarge { .. }
            | Self::InvalidUrl { .. }
            | Self::NoToken { .. }
            | Self::Untrusted { .. }
            | Self::CertificateRefused { .. } => false,
        }
    }

    /// How long the service wants to be left alone. What is over a minute is not waited for: so long nobody looks on.
    pub fn retry_after(&self) -> Duration {
        match self {
            Self::Answered(body) => body.retry_after.map_or(Duration::ZERO, |seconds| {
                Duration::from_secs(seconds).min(MOST)
            }),
            _ => Duration::ZERO,
        }
    }
}
