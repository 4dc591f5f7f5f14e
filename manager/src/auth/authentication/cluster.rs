//! Tokens that the cluster accepts, including those of service accounts. The API server checks them (TokenReview).
//!
//! Answers are cached for a short time by the token's digest, so a caller costs the cluster one review in that time,
//! and a revoked token is useless soon. Reviews of unknown tokens are limited, so that invented tokens do not burden
//! the cluster.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use common::api::error::ErrorBody;
use common::api::review::TokenReview;
use common::model::{Identity, Secret};
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use super::{AuthenticationError, Authenticator};
use crate::auth::cache::Cache;
use crate::deployer::Deployer;

/// How long a valid token is cached.
const KNOWN: Duration = Duration::from_secs(30);
/// How long an invalid token is cached. It is shorter, because the token may be new.
const UNKNOWN: Duration = Duration::from_secs(5);
/// The maximum number of cached answers of each kind.
const ANSWERS: usize = 10_000;
/// The maximum number of concurrent reviews. Others wait.
const AT_ONCE: usize = 16;
/// A review takes milliseconds.
const REVIEW: Duration = Duration::from_secs(10);

type TokenDigest = [u8; 32];

pub struct ClusterTokens {
    deployer: Arc<dyn Deployer>,
    audiences: Vec<String>,
    /// Separate, so that many invalid tokens do not evict a valid one.
    known: Cache<TokenDigest, Identity>,
    unknown: Cache<TokenDigest, ()>,
    places: Semaphore,
}

impl ClusterTokens {
    /// Tokens must be for one of these audiences, or for the API server itself if there are none.
    pub fn new(deployer: Arc<dyn Deployer>, audiences: Vec<String>) -> Self {
        Self {
            deployer,
            audiences,
            known: Cache::new(ANSWERS, KNOWN),
            unknown: Cache::new(ANSWERS, UNKNOWN),
            places: Semaphore::new(AT_ONCE),
        }
    }

    async fn review(&self, token: &str) -> Result<Identity, AuthenticationError> {
        let review = TokenReview {
            token: Secret::new(token),
            audiences: self.audiences.clone(),
        };
        let _place = self.places.acquire().await;
        let verdict = self.deployer.review_token(&review, REVIEW).await;
        let verdict = verdict.map_err(|error| {
            let error: Box<ErrorBody> = error.into();
            AuthenticationError::Unavailable(error.message)
        })?;
        match verdict.identity.filter(|_| verdict.authenticated) {
            Some(identity) => Ok(identity),
            None => {
                let reason = verdict
                    .error
                    .unwrap_or_else(|| "it gives no reason".to_owned());
                let reason = format!("the cluster does not know the token: {reason}");
                Err(AuthenticationError::Refused(reason))
            }
        }
    }
}

#[async_trait]
impl Authenticator for ClusterTokens {
    async fn authenticate(&self, token: &str) -> Result<Identity, AuthenticationError> {
        let digest: TokenDigest = Sha256::digest(token.as_bytes()).into();
        if let Some(identity) = self.known.get(&digest) {
            return Ok(identity);
        }
        if self.unknown.get(&digest).is_some() {
            let reason = "the cluster did not know the token a moment ago".to_owned();
            return Err(AuthenticationError::Refused(reason));
        }
        let reviewed = self.review(token).await;
        match &reviewed {
            Ok(identity) => self.known.put(digest, identity.clone()),
            Err(AuthenticationError::Refused(_)) => self.unknown.put(digest, ()),
            Err(AuthenticationError::Unavailable(_)) => {}
        }
        reviewed
    }
}
