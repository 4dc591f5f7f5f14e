//! The port to what knows who may do what.
//!
//! Promises of every adapter, proved by `conformance` over each:
//! - What is not allowed to somebody is refused.
//! - A role in one namespace is none in another; one in all namespaces counts in each, and for what belongs to none.
//! - What cannot be found out now is an error, never a yes.

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

/// Something that somebody wants to do.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Question {
    pub verb: Verb,
    pub resource: Resource,
    /// Absent: in all of them, or in none.
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

    /// About all of a kind, wherever they are.
    pub fn all(verb: Verb, resource: Resource) -> Self {
        Self {
            verb,
            resource,
            namespace: None,
            name: None,
        }
    }
}

/// As the end of "may not …".
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

/// Whose deployments somebody may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Visibility {
    All,
    /// Those of these namespaces.
    Only(BTreeSet<Namespace>),
    /// It has to be asked for each namespace.
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

    /// What would make it allow the question: the end of a refusal.
    fn advice(&self, question: &Question) -> String;
}
