//! The port to authorizers.
//!
//! Promises of every adapter, proved by `conformance` over each:
//! - What is not permitted is refused.
//! - A role in one namespace does not count in others. A role in all namespaces counts in each, and for what belongs to
//!   none.
//! - If the answer is unknown at the moment, it is an error, and never a yes.

mod cluster;
#[cfg(test)]
mod conformance;
mod policy;

use std::collections::BTreeSet;
use std::fmt;

use async_trait::async_trait;
use common::api::error::ErrorBody;
use common::model::{DeploymentName, Identity, Namespace};

pub use self::cluster::ClusterRules;
pub use self::policy::Policy;
use super::verb::{Resource, Verb};

/// An action that a caller wants to take.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Question {
    pub verb: Verb,
    pub resource: Resource,
    /// Absent: in all namespaces, or for what belongs to none.
    pub namespace: Option<Namespace>,
    pub name: Option<String>,
}

impl Question {
    /// About a deployment of a namespace.
    pub fn deployment(verb: Verb, namespace: &Namespace, name: &DeploymentName) -> Self {
        Self {
            verb,
            resource: Resource::Deployments,
            namespace: Some(namespace.clone()),
            name: Some(name.to_string()),
        }
    }

    /// For everything of a kind, in all namespaces.
    pub fn all(verb: Verb, resource: Resource) -> Self {
        Self {
            verb,
            resource,
            namespace: None,
            name: None,
        }
    }
}

/// The end of a sentence that begins with "may not".
impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.resource)?;
        if let Some(name) = &self.name {
            write!(f, " '{name}'")?;
        }
        match &self.namespace {
            Some(namespace) => write!(f, " in namespace '{namespace}'"),
            None => Ok(()),
        }
    }
}

/// The deployments that a caller may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Visibility {
    All,
    /// Those in these namespaces.
    Only(BTreeSet<Namespace>),
    /// Each namespace must be checked.
    Unknown,
}

#[async_trait]
pub trait Authorizer: Send + Sync {
    async fn allows(
        &self,
        identity: &Identity,
        question: &Question,
    ) -> Result<bool, Box<ErrorBody>>;

    async fn visibility(&self, identity: &Identity) -> Result<Visibility, Box<ErrorBody>>;

    /// The missing permission: the end of a refusal.
    fn advice(&self, question: &Question) -> String;
}
