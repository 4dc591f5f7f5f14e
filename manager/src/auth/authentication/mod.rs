//! The port to authenticators of bearer tokens.
//!
//! Promises of every adapter, proved by `conformance` over each:
//! - A known and valid token always identifies the same caller.
//! - A token that is unknown, expired or meant for others identifies nobody. The reason never quotes it.
//! - Only the cluster gives names that begin with `system:`, unless the operator allows one ([`reserved`]).
//! - If the answer is unknown at the moment, it is [`AuthenticationError::Unavailable`], and never a yes.

mod cluster;
#[cfg(test)]
mod conformance;
mod oidc;
mod reserved;
mod tokens;

use std::sync::Arc;

use async_trait::async_trait;
use common::api::error::{ErrorBody, ErrorCode};
use common::model::Identity;
use common::model::identity::Parts;
use common::model::limits::TOKEN_BYTES;
use common::tls::Certificate;

pub use self::cluster::ClusterTokens;
pub use self::oidc::{Issuer, IssuerError, OidcOptions, OidcTokens, claim_of};
pub use self::reserved::{ReservedNames, reserved_name};
pub use self::tokens::StaticTokens;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthenticationError {
    /// The token is not of this kind, or not valid any more.
    #[error("{0}")]
    Refused(String),
    /// The answer is unknown at the moment.
    #[error("{0}")]
    Unavailable(String),
}

#[async_trait]
pub trait Authenticator: Send + Sync {
    async fn authenticate(&self, token: &str) -> Result<Identity, AuthenticationError>;
}

/// All configured authenticators. A caller that one of them knows is known.
#[derive(Clone, Default)]
pub struct Authenticators {
    tokens: Vec<Arc<dyn Authenticator>>,
    /// Present if client certificates identify callers.
    certificates: Option<ReservedNames>,
}

impl Authenticators {
    pub fn new(tokens: Vec<Arc<dyn Authenticator>>, certificates: Option<ReservedNames>) -> Self {
        Self {
            tokens,
            certificates,
        }
    }

    pub fn are_configured(&self) -> bool {
        self.certificates.is_some() || !self.tokens.is_empty()
    }

    /// The identity of a verified certificate: its CN is the user, and its Os are the groups, as in Kubernetes. None if
    /// certificates are not accepted.
    pub fn certificate(&self, shown: &Certificate) -> Result<Option<Identity>, ErrorBody> {
        let (Some(names), Some(name)) = (&self.certificates, &shown.common_name) else {
            return Ok(None);
        };
        let parts = Parts {
            user: name.clone(),
            groups: shown.organizations.clone(),
            ..Parts::default()
        };
        names.identity(parts).map(Some).map_err(|reason| {
            let message = format!("the client's certificate is not accepted: {reason}");
            ErrorBody::new(ErrorCode::Unauthenticated, message)
        })
    }

    /// Asks one after the other. If none knows the token and one is unavailable, the answer says so: the token may be
    /// valid.
    pub async fn authenticate(&self, token: &str) -> Result<Identity, ErrorBody> {
        if token.len() > TOKEN_BYTES {
            return Err(refused());
        }
        let mut unavailable = None;
        for authenticator in &self.tokens {
            match authenticator.authenticate(token).await {
                Ok(identity) => return Ok(identity),
                Err(AuthenticationError::Refused(reason)) => {
                    tracing::debug!(reason, "a token is refused: {reason}");
                }
                Err(AuthenticationError::Unavailable(reason)) => unavailable = Some(reason),
            }
        }
        match unavailable {
            None => Err(refused()),
            Some(reason) => {
                tracing::warn!(reason, "a token cannot be checked: {reason}");
                let message = "the token cannot be checked now; try again";
                Err(ErrorBody::new(ErrorCode::Unavailable, message))
            }
        }
    }
}

fn refused() -> ErrorBody {
    let message = "the bearer token is not valid here: it is unknown, has expired, or is meant for another service; get a new one";
    ErrorBody::new(ErrorCode::Unauthenticated, message)
}
