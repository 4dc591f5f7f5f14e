//! The cluster's own RBAC: virtual resources of the API group `deploymentmanager`, checked with SubjectAccessReviews.
//!
//! Answers are cached for a few seconds. A withdrawn role may count here for that time, but not in the cluster, which
//! checks every object again.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use common::api::error::ErrorBody;
use common::api::review::{AccessReview, ResourceAttributes};
use common::model::Identity;

use super::{Authorizer, Question, Visibility};
use crate::auth::cache::Cache;
use crate::auth::verb::{Resource, Verb};
use crate::deployer::Deployer;

const KEPT: Duration = Duration::from_secs(10);
/// The maximum number of cached answers.
const ANSWERS: usize = 50_000;
/// A review takes milliseconds.
const REVIEW: Duration = Duration::from_secs(10);

pub struct ClusterRules {
    deployer: Arc<dyn Deployer>,
    answers: Cache<(String, Question), bool>,
}

impl ClusterRules {
    pub fn new(deployer: Arc<dyn Deployer>) -> Self {
        Self {
            deployer,
            answers: Cache::new(ANSWERS, KEPT),
        }
    }

    async fn ask(&self, identity: &Identity, question: &Question) -> Result<bool, Box<ErrorBody>> {
        let access = ResourceAttributes {
            verb: question.verb.as_str().to_owned(),
            group: Resource::GROUP.to_owned(),
            resource: question.resource.as_str().to_owned(),
            subresource: None,
            namespace: question.namespace.as_ref().map(ToString::to_string),
            name: question.name.clone(),
        };
        let review = AccessReview {
            identity: identity.clone(),
            attributes: vec![access],
        };
        let verdicts = self.deployer.review_access(&review, REVIEW).await?;
        Ok(verdicts.first().is_some_and(|verdict| verdict.allowed))
    }
}

#[async_trait]
impl Authorizer for ClusterRules {
    async fn allows(
        &self,
        identity: &Identity,
        question: &Question,
    ) -> Result<bool, Box<ErrorBody>> {
        // The whole identity: two callers with the same user name may be in different groups.
        let key = (format!("{identity:?}"), question.clone());
        if let Some(answer) = self.answers.get(&key) {
            return Ok(answer);
        }
        let answer = self.ask(identity, question).await?;
        self.answers.put(key, answer);
        Ok(answer)
    }

    /// The cluster cannot list the namespaces in which a caller may do something.
    async fn visibility(&self, identity: &Identity) -> Result<Visibility, Box<ErrorBody>> {
        let everywhere = Question::all(Verb::List, Resource::Deployments);
        Ok(match self.allows(identity, &everywhere).await? {
            true => Visibility::All,
            false => Visibility::Unknown,
        })
    }

    fn advice(&self, question: &Question) -> String {
        let place = match &question.namespace {
            Some(namespace) => format!("a Role in namespace '{namespace}'"),
            None => "a ClusterRole".to_owned(),
        };
        format!(
            "it takes {place} with the verb '{}' on {}.{}",
            question.verb,
            question.resource,
            Resource::GROUP
        )
    }
}
