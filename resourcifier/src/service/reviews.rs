//! The cluster's answers about callers: the user of a token, and what a user may do. Asked as the service itself.

use common::api::error::{ErrorBody, ErrorCode};
use common::api::review::{AccessReview, AccessVerdicts, TokenReview, TokenVerdict};
use common::model::limits;
use futures::{StreamExt, TryStreamExt};

use super::{Deployer, LOOK};
use crate::apply::AT_ONCE;

/// The maximum number of audiences of one token.
const AUDIENCES: usize = 16;

impl Deployer {
    pub async fn review_token(&self, review: TokenReview) -> Result<TokenVerdict, ErrorBody> {
        let length = review.token.reveal().len();
        if length == 0 || length > limits::TOKEN_BYTES || review.audiences.len() > AUDIENCES {
            let message = format!(
                "a token must have 1 to {} bytes and at most {AUDIENCES} audiences",
                limits::TOKEN_BYTES
            );
            return Err(ErrorBody::new(ErrorCode::InvalidRequest, message));
        }
        Ok(self.cluster.review_token(&review, LOOK).await?)
    }

    pub async fn review_access(&self, review: AccessReview) -> Result<AccessVerdicts, ErrorBody> {
        let asked = review.attributes.len();
        if asked > limits::ACCESS_QUESTIONS {
            let message = format!(
                "{asked} questions are too many for one review; ask at most {}",
                limits::ACCESS_QUESTIONS
            );
            return Err(ErrorBody::new(ErrorCode::InvalidRequest, message));
        }
        let calls = review
            .attributes
            .iter()
            .map(|access| self.cluster.review_access(&review.identity, access, LOOK));
        let items = futures::stream::iter(calls).buffered(AT_ONCE).try_collect();
        Ok(AccessVerdicts {
            items: items.await?,
        })
    }
}
