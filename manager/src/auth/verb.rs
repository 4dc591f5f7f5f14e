//! What can be done, the role that allows it, and its name in the cluster's RBAC: one table.

use std::fmt;

use serde::Deserialize;

/// Each includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    View,
    Edit,
    Admin,
}

/// What it is done to: virtual resources of the API group `deploymentmanager`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Their manifests, previews, live states and operations are part of them.
    Deployments,
    Registries,
    Credentials,
    /// All that the manager keeps: backups.
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

    /// The least that allows it. What belongs to no namespace is for administrators of all.
    pub fn needed(verb: Verb, resource: Resource) -> Self {
        match (resource, verb) {
            (Resource::Deployments, Verb::Get | Verb::List) => Role::View,
            (Resource::Deployments, Verb::Create | Verb::Update | Verb::Delete) => Role::Edit,
            (Resource::Registries | Resource::Credentials | Resource::Store, _) => Role::Admin,
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
