//! Tokens that the cluster knows: whatever its API server accepts, service accounts' among them, is asked of it by a
//! TokenReview.
//!
//! An answer is kept for a short time by the token's digest, so that a caller costs the cluster one review in that time,
//! and a token that is withdrawn is of no use soon after. Reviews of tokens that nobody knows yet are bounded, so that
//! made-up ones do not become the cluster's trouble.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use common::api::review::TokenReview;
use common::model::{Identity, Secret};
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use super::{AuthenticationError, Authenticator};
use crate::auth::cache::Cache;
use crate::deployer::Deployer;

/// How long a token counts as good after it was.
const KNOWN: Duration = Duration::from_secs(30);
/// And as bad: shorter, for it may have been made just now.
const UNKNOWN: Duration = Duration::from_secs(5);
/// Answers that are kept, of each kind.
const ANSWERS: usize = 10_000;
/// Reviews at once; further ones wait.
const AT_ONCE: usize = 16;
/// A review takes milliseconds.
const REVIEW: Duration = Duration::from_secs(10);

type TokenDigest = [u8; 32];

pub struct ClusterTokens {
    deployer: Arc<dyn Deployer>,
    audiences: Vec<String>,
    /// Apart, so that a flood of bad tokens makes no good one forgotten.
    known: Cache<TokenDigest, Identity>,
    unknown: Cache<TokenDigest, ()>,
    places: Semaphore,
}

impl ClusterTokens {
    /// Tokens must be meant for one of the audiences, or for the API server itself if there are none.
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
        let verdict = verdict.map_err(|error| AuthenticationError::Unavailable(error.message))?;
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
