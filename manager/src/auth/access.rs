//! What a caller may do, and which identity is used in the cluster.
//!
//! ```text
//! the caller                     ── role in the namespace ──►  may the manager do it for them?
//! the caller, or an account that ── the cluster's RBAC ─────►  may they do it there?  (decided by the cluster, object by
//! the deployment names                                          object: all that reaches it goes in their name)
//! ```

use std::sync::Arc;
use std::time::Duration;

use common::api::error::{ErrorBody, ErrorCode};
use common::api::manager::Permission;
use common::api::review::{self, AccessReview};
use common::model::{ClusterName, Identity, Namespace, ServiceAccountName};

use super::authorization::{Authorizer, Question, Visibility};
use super::cache::Cache;
use super::caller::ANONYMOUS;
use crate::deployer::Deployers;

/// How long a caller may still use a service account after losing the permission. The account's own permissions are not
/// cached.
const KEPT: Duration = Duration::from_secs(10);
/// The maximum number of cached answers.
const ANSWERS: usize = 10_000;
/// A review takes milliseconds.
const REVIEW: Duration = Duration::from_secs(10);

/// Clones share the cache.
#[derive(Clone)]
pub struct AccessControl {
    /// Absent without authentication: then everything is permitted.
    authorizer: Option<Arc<dyn Authorizer>>,
    deployers: Arc<dyn Deployers>,
    impersonations: Arc<Cache<(String, ClusterName, Namespace, ServiceAccountName), bool>>,
}

impl AccessControl {
    pub fn new(authorizer: Option<Arc<dyn Authorizer>>, deployers: Arc<dyn Deployers>) -> Self {
        Self {
            authorizer,
            deployers,
            impersonations: Arc::new(Cache::new(ANSWERS, KEPT)),
        }
    }

    /// Whether everything is permitted.
    pub fn is_open(&self) -> bool {
        self.authorizer.is_none()
    }

    pub async fn allows(
        &self,
        identity: Option<&Identity>,
        question: &Question,
    ) -> Result<bool, Box<ErrorBody>> {
        match (&self.authorizer, identity) {
            (None, _) => Ok(true),
            (Some(_), None) => Ok(false),
            (Some(authorizer), Some(identity)) => authorizer.allows(identity, question).await,
        }
    }

    /// Refuses what is not permitted, and says which permission is missing.
    pub async fn require(
        &self,
        identity: Option<&Identity>,
        question: &Question,
    ) -> Result<(), Box<ErrorBody>> {
        if self.allows(identity, question).await? {
            return Ok(());
        }
        let advice = self.authorizer.as_ref().map(|rules| rules.advice(question));
        let message = format!(
            "user '{}' may not {question}: {}",
            identity.map_or(ANONYMOUS, Identity::user),
            advice.unwrap_or_default()
        );
        Err(forbidden(message))
    }

    /// The same as an answer says it beforehand.
    pub async fn permission(
        &self,
        identity: Option<&Identity>,
        question: &Question,
    ) -> Result<Permission, Box<ErrorBody>> {
        let reason = match self.require(identity, question).await {
            Err(error) if error.code != ErrorCode::Forbidden => return Err(error),
            Err(error) => Some(error.message),
            Ok(()) => None,
        };
        Ok(Permission {
            allowed: reason.is_none(),
            reason,
        })
    }

    /// The deployments that a caller may see.
    pub async fn visibility(
        &self,
        identity: Option<&Identity>,
    ) -> Result<Visibility, Box<ErrorBody>> {
        match (&self.authorizer, identity) {
            (None, _) => Ok(Visibility::All),
            (Some(_), None) => Ok(Visibility::Only(Default::default())),
            (Some(authorizer), Some(identity)) => authorizer.visibility(identity).await,
        }
    }

    /// The identity that reads and writes a deployment's objects. With a service account it is that account, and the
    /// deployment's cluster must permit the caller to use it: otherwise every editor of the deployment would gain the account's
    /// permissions. Without one it is the caller. Without authentication it is resourcifier's own.
    pub async fn acting(
        &self,
        identity: Option<&Identity>,
        place: (&ClusterName, &Namespace),
        account: Option<&ServiceAccountName>,
    ) -> Result<Option<Identity>, Box<ErrorBody>> {
        if identity.is_none() && !self.is_open() {
            let message = "the user of the last write is not known, because authentication was not configured then: repeat the write";
            return Err(forbidden(message.to_owned()));
        }
        let Some(account) = account else {
            return Ok(identity.cloned());
        };
        let (_, namespace) = place;
        if let Some(identity) = identity
            && !self.may_impersonate(identity, place, account).await?
        {
            let message = format!(
                "user '{}' may not use service account '{account}' of namespace '{namespace}', in whose name the deployment is applied: it takes a Role there with the verb 'impersonate' on serviceaccounts",
                identity.user()
            );
            return Err(forbidden(message));
        }
        let acting = Identity::of_service_account(namespace, account.as_str());
        let acting = acting.map_err(|error| {
            Box::new(ErrorBody::new(ErrorCode::InvalidRequest, error.to_string()))
        })?;
        Ok(Some(acting))
    }

    async fn may_impersonate(
        &self,
        identity: &Identity,
        (cluster, namespace): (&ClusterName, &Namespace),
        account: &ServiceAccountName,
    ) -> Result<bool, Box<ErrorBody>> {
        let (place, account_name) = ((cluster.clone(), namespace.clone()), account.clone());
        let key = (format!("{identity:?}"), place.0, place.1, account_name);
        if let Some(answer) = self.impersonations.get(&key) {
            return Ok(answer);
        }
        let access = review::ResourceAttributes {
            verb: "impersonate".to_owned(),
            group: String::new(),
            resource: "serviceaccounts".to_owned(),
            subresource: None,
            namespace: Some(namespace.to_string()),
            name: Some(account.to_string()),
        };
        let review = AccessReview {
            identity: identity.clone(),
            attributes: vec![access],
        };
        let verdicts = self
            .deployers
            .of(cluster)
            .review_access(&review, REVIEW)
            .await?;
        let answer = verdicts.first().is_some_and(|verdict| verdict.allowed);
        self.impersonations.put(key, answer);
        Ok(answer)
    }
}

fn forbidden(message: String) -> Box<ErrorBody> {
    Box::new(ErrorBody::new(ErrorCode::Forbidden, message))
}
