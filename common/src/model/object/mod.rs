//! Kubernetes objects as Deployment Manager records them.

pub mod metadata;

use std::fmt;

use serde::{Deserialize, Serialize};

use super::name::ResourceName;

/// The label of every object with the deployment that it belongs to.
pub const DEPLOYMENT_LABEL: &str = "deployment-manager.dev/deployment";

/// The identity of an object: enough to find it in the cluster.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ObjectRef {
    /// `VERSION` or `GROUP/VERSION`: `v1`, `apps/v1`.
    pub api_version: String,
    /// The singular name: `ConfigMap`.
    pub kind: String,
    /// Absent for cluster-scoped kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Unique for its kind in its namespace.
    pub name: String,
}

impl ObjectRef {
    /// The API group, `""` for the core group. Objects are identified by group: an object stays the same when its
    /// version changes.
    pub fn group(&self) -> &str {
        self.api_version
            .split_once('/')
            .map_or("", |(group, _)| group)
    }

    /// What identifies it, in whatever version of its group it is written: group, kind, namespace, name.
    pub fn identity(&self) -> (&str, &str, Option<&str>, &str) {
        (
            self.group(),
            &self.kind,
            self.namespace.as_deref(),
            &self.name,
        )
    }

    /// Whether both name the same object, in whatever version of its group each is written.
    pub fn is_same_object(&self, other: &ObjectRef) -> bool {
        self.identity() == other.identity()
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.kind)?;
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.name)
    }
}

/// An object that was applied for a deployment. Prune and delete use this record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppliedObject {
    /// The resource that it was applied for.
    pub resource: ResourceName,
    /// The object, in the version in which it was applied.
    #[serde(flatten)]
    pub object: ObjectRef,
    /// The UID from the API server. An object of the same name with another UID does not belong to the deployment.
    pub uid: String,
}
