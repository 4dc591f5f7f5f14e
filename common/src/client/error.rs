//! Why a call to a service failed.

use std::time::Duration;

use crate::api::error::{ErrorBody, ErrorCode};
use crate::duration;
use crate::json::TooLarge;

/// The longest `Retry-After` that a client waits for.
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
    #[error("{service} at {url} did not answer within {}", duration::render(*deadline))]
    TimedOut {
        service: &'static str,
        url: String,
        deadline: Duration,
    },
    /// The connection broke while the answer was arriving.
    #[error("{service} at {url} closed the connection before the end of its answer: {reason}")]
    BrokenOff {
        service: &'static str,
        url: String,
        reason: String,
    },
    #[error(
        "{service} at {url} returned an answer that cannot be read: {reason}; check that the versions match"
    )]
    Malformed {
        service: &'static str,
        url: String,
        reason: String,
    },
    #[error("{service} at {url} returned an answer that is too large: {reason}")]
    TooLarge {
        service: &'static str,
        url: String,
        reason: TooLarge,
    },
    #[error("{url:?} is not a service's address: {reason}")]
    InvalidUrl { url: String, reason: String },
    /// The previous token cannot be used any more, and there is no new one.
    #[error("there is no token for {service}: {reason}")]
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
    /// The body to return to the own caller. `unavailable` is the code for an unreachable service.
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

    /// Whether a retry may succeed: the service is unreachable or overloaded, and the request is valid.
    pub fn is_transient(&self) -> bool {
        match self {
            // The manager has retried already, and pauses requests to the registry for a while.
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

    /// How long to wait before a retry, at most a minute.
    pub fn retry_after(&self) -> Duration {
        match self {
            Self::Answered(body) => body.retry_after.map_or(Duration::ZERO, |seconds| {
                Duration::from_secs(seconds).min(MOST)
            }),
            _ => Duration::ZERO,
        }
    }
}
