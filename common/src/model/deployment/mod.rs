//! A deployment: the main resource of the API, as callers see it.

pub mod operation;
pub mod preview;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::manifest::configuration::Output;
use super::name::{
    ClusterName, DeploymentName, ManifestName, Namespace, OperationId, ServiceAccountName,
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deployment {
    pub name: DeploymentName,
    pub namespace: Namespace,
    /// The cluster that it is applied to. `default` is that of the manager's own resourcifier.
    #[serde(default)]
    pub cluster: ClusterName,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployed_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
    pub state: DeploymentState,
    /// The manifest that was applied last, or is being applied. Absent if there is only a preview.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest_manifest: Option<ManifestName>,
    /// The last manifest whose resources were all applied and ready. A failed update can go back to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployed_manifest: Option<ManifestName>,
    /// The manifest that shows what an update would do, and that can be committed. Another preview replaces it. An
    /// update removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<ManifestName>,
    /// The operation that is running or ran last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<OperationId>,
    /// Changes with every write. It is also the `ETag`.
    pub fingerprint: String,
    #[serde(default)]
    pub outputs: Vec<Output>,
    /// What its template says to its users (`info.notes` of the schema), with the values of references.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// The number of the latest manifest among all that the deployment has had; absent before the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    #[serde(default)]
    pub drift_policy: DriftPolicy,
    /// The service account of its namespace that it is applied as. Absent: it is applied as the user of its last write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account: Option<ServiceAccountName>,
    /// The result of the last scheduled check of the latest manifest. It does not change the fingerprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
    /// What its users should know, such as a drift policy without effect. Only in the answer for one deployment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What to do about drift that a scheduled check finds.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DriftPolicy {
    /// Report the drift.
    #[default]
    Report,
    /// Apply the latest manifest again.
    Correct,
}

/// The difference between the cluster and the deployment's desired state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Drift {
    pub checked_at: Timestamp,
    /// Resources that are missing or replaced, or have fields that others changed.
    pub resources: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DeploymentState {
    pub status: DeploymentStatus,
    /// One sentence for each failure.
    #[serde(default)]
    pub errors: Vec<String>,
}

/// `Modified`: an update is being applied. It becomes `Deployed` when all resources are ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum DeploymentStatus {
    Created,
    Deployed,
    Modified,
    Failed,
    Deleted,
}
