//! What callers can do, the role that permits it, and its name in the cluster's RBAC.

use std::fmt;

use serde::Deserialize;

/// Each role includes the previous ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    View,
    Edit,
    Admin,
}

/// The kinds of things: virtual resources of the API group `deploymentmanager`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Includes their manifests, previews, live state and operations.
    Deployments,
    Registries,
    Credentials,
    Clusters,
    /// The whole store: backups.
    Store,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verb {
    Get,
    List,
    Create,
    Update,
    Delete,
}

impl Role {
    pub fn as_str(self) -> &'static str {
        match self {
            Role::View => "view",
            Role::Edit => "edit",
            Role::Admin => "admin",
        }
    }

    /// The lowest role that permits it. What belongs to no namespace needs an administrator of all namespaces.
    pub fn needed(verb: Verb, resource: Resource) -> Self {
        match (resource, verb) {
            (Resource::Deployments, Verb::Get | Verb::List) => Role::View,
            (Resource::Deployments, Verb::Create | Verb::Update | Verb::Delete) => Role::Edit,
            (
                Resource::Registries | Resource::Credentials | Resource::Clusters | Resource::Store,
                _,
            ) => Role::Admin,
        }
    }
}

impl Resource {
    /// The API group in RBAC rules.
    pub const GROUP: &'static str = "deploymentmanager";

    pub fn as_str(self) -> &'static str {
        match self {
            Resource::Deployments => "deployments",
            Resource::Registries => "registries",
            Resource::Credentials => "credentials",
            Resource::Clusters => "clusters",
            Resource::Store => "store",
        }
    }
}

impl Verb {
    pub fn as_str(self) -> &'static str {
        match self {
            Verb::Get => "get",
            Verb::List => "list",
            Verb::Create => "create",
            Verb::Update => "update",
            Verb::Delete => "delete",
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
