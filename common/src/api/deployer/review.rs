//! What resourcifier asks the cluster about callers: who the bearer of a token is, and what a user may do.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::{Identity, Secret};

/// `POST /reviews/token`: a Kubernetes TokenReview.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenReview {
    /// Never logged.
    pub token: Secret,
    /// The audiences of the token: it must be meant for one of them. Empty: for the API server itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audiences: Vec<String>,
}

/// The cluster's answer about a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenVerdict {
    /// Whether the API server accepts the token for one of the audiences.
    pub authenticated: bool,
    /// The user of the token. Absent if it is not valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// Why it is not valid. Never contains the token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// `POST /reviews/access`: Kubernetes SubjectAccessReviews, many at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessReview {
    /// The user whose rights are checked.
    pub identity: Identity,
    /// At most [`crate::model::limits::ACCESS_QUESTIONS`].
    pub attributes: Vec<ResourceAttributes>,
}

/// One action that a user wants to do.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Access")]
pub struct ResourceAttributes {
    /// `get`, `create`, `patch`, `delete`, `impersonate`, …
    pub verb: String,
    /// The API group, `""` for the core group.
    #[serde(default)]
    pub group: String,
    /// The plural name, as in paths and roles: `deployments`.
    pub resource: String,
    /// A part of the object with rights of its own: `status`, `scale`, `log`. Absent: the object itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subresource: Option<String>,
    /// Absent for cluster-scoped kinds, and for all namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Absent for all objects of the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// `patch deployments.apps "web" in namespace shop`.
impl fmt::Display for ResourceAttributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.resource)?;
        if let Some(subresource) = &self.subresource {
            write!(f, "/{subresource}")?;
        }
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        if let Some(name) = &self.name {
            write!(f, " {name:?}")?;
        }
        match &self.namespace {
            Some(namespace) => write!(f, " in namespace {namespace}"),
            None => Ok(()),
        }
    }
}

/// The answers, in the order of the questions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AccessVerdicts {
    /// One for each question.
    pub items: Vec<AccessVerdict>,
}

/// The cluster's answer about one action.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessVerdict {
    /// Whether an authorizer of the cluster allows it. No opinion counts as a refusal.
    pub allowed: bool,
    /// What the authorizer says about it. Often absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_is_told_as_roles_name_it() {
        let access = ResourceAttributes {
            verb: "get".to_owned(),
            group: String::new(),
            resource: "pods".to_owned(),
            subresource: Some("log".to_owned()),
            namespace: Some("shop".to_owned()),
            name: Some("web-0".to_owned()),
        };
        assert_eq!(
            access.to_string(),
            "get pods/log \"web-0\" in namespace shop"
        );
        let access = ResourceAttributes {
            verb: "create".to_owned(),
            group: "rbac.authorization.k8s.io".to_owned(),
            resource: "clusterroles".to_owned(),
            subresource: None,
            namespace: None,
            name: None,
        };
        assert_eq!(
            access.to_string(),
            "create clusterroles.rbac.authorization.k8s.io"
        );
    }
}
