//! Why a request failed.

use std::net::IpAddr;

use common::api::error::ErrorCode;
use jiff::Timestamp;
use reqwest::StatusCode;

use super::auth::AuthError;
use super::client::{REDIRECTS, REQUEST};

#[derive(Debug, thiserror::Error)]
pub enum WebError {
    #[error(
        "{host} is a private address ({address}); templates come from there only if its registry is registered (dm createregistry), or with --allow-private-registries; from a link-local address only with the latter"
    )]
    Private { host: String, address: IpAddr },
    #[error("{url} cannot be asked with the registry's credential: {source}")]
    Auth { url: String, source: AuthError },
    #[error("{url} redirects to another host, {to}; refer to the file where it is")]
    Elsewhere { url: String, to: String },
    #[error("{url} redirects more than {REDIRECTS} times, or to nowhere")]
    Redirects { url: String },
    #[error("{url} is larger than {limit} bytes")]
    TooLarge { url: String, limit: usize },
    #[error("{url} cannot be reached: {reason}")]
    Unreachable { url: String, reason: String },
    #[error("{url} did not answer within {} s", REQUEST.as_secs())]
    TimedOut { url: String },
    #[error("{host} asked for no further request before {until}: its rate limit is used up")]
    RateLimited { host: String, until: Timestamp },
    #[error("{host} is unreachable, and is tried again after {until}: {reason}")]
    Paused {
        host: String,
        until: Timestamp,
        reason: String,
    },
    #[error("{url} answered {status}")]
    Status { url: String, status: StatusCode },
    #[error("the HTTP client cannot be set up: {reason}")]
    Client { reason: String },
}

impl WebError {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Private { .. }
            | Self::Elsewhere { .. }
            | Self::Redirects { .. }
            | Self::TooLarge { .. } => ErrorCode::InvalidConfiguration,
            Self::Unreachable { .. }
            | Self::TimedOut { .. }
            | Self::RateLimited { .. }
            | Self::Paused { .. }
            | Self::Status { .. } => ErrorCode::RegistryUnavailable,
            Self::Auth { source, .. } => match source {
                AuthError::Web(error) => error.code(),
                AuthError::NoHeader | AuthError::KeyFile(_) | AuthError::NoToken { .. } => {
                    ErrorCode::RegistryUnavailable
                }
            },
            Self::Client { .. } => ErrorCode::Internal,
        }
    }

    /// The host did not answer, so earlier responses stay in use. A refusal is an answer.
    pub fn is_absence(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::TimedOut { .. }
            | Self::RateLimited { .. }
            | Self::Paused { .. } => true,
            Self::Status { status, .. } => status.is_server_error(),
            Self::Auth { source, .. } => match source {
                AuthError::Web(error) => error.is_absence(),
                AuthError::NoHeader | AuthError::KeyFile(_) | AuthError::NoToken { .. } => false,
            },
            Self::Private { .. }
            | Self::Elsewhere { .. }
            | Self::Redirects { .. }
            | Self::TooLarge { .. }
            | Self::Client { .. } => false,
        }
    }
}
