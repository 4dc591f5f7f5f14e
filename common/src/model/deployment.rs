//! A deployment: the primary resource of the API, as callers see it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::configuration::Output;
use super::name::{DeploymentName, ManifestName, Namespace, OperationId};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Deployment {
    pub name: DeploymentName,
    pub namespace: Namespace,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployed_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
    pub state: DeploymentState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest_manifest: Option<ManifestName>,
    /// The operation that runs or was the last to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<OperationId>,
    /// Changes with every write; also the `ETag`.
    pub fingerprint: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Output>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeploymentState {
    pub status: DeploymentStatus,
    /// One sentence for each thing that failed.
    #[serde(default)]
    pub errors: Vec<String>,
}

/// `Modified`: an update is being applied; it becomes `Deployed` when all is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeploymentStatus {
    Created,
    Deployed,
    Modified,
    Failed,
    Deleted,
}
