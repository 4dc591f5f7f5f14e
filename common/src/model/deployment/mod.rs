//! A deployment: the main resource of the API, as callers see it.

pub mod operation;
pub mod preview;
pub mod summary;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::manifest::configuration::Output;
use super::name::{
    ClusterName, DeploymentName, ManifestName, Namespace, OperationId, ServiceAccountName,
};

/// A named set of objects that is created, updated and deleted as one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deployment {
    /// Unique in its manager. It never changes.
    pub name: DeploymentName,
    /// The namespace of namespaced objects that name none. It never changes.
    pub namespace: Namespace,
    /// The cluster that it is applied to. `default` is that of the manager's own resourcifier.
    #[serde(default)]
    pub cluster: ClusterName,
    /// Free text of the user. Empty if there is none.
    #[serde(default)]
    pub description: String,
    /// For selectors. They do not become labels of objects.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// When the deployment was created.
    pub created_at: Timestamp,
    /// When the last update started. Absent before the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_at: Option<Timestamp>,
    /// When all resources were last ready. Absent before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployed_at: Option<Timestamp>,
    /// Set only in the answer to a deletion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
    /// Where the deployment stands now.
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
    /// The outputs of the last successful write, with the values of references.
    #[serde(default)]
    pub outputs: Vec<Output>,
    /// What its template says to its users (`info.notes` of the schema), with the values of references.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// The number of the latest manifest among all that the deployment has had; absent before the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// What to do about drift that a scheduled check finds.
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
    /// When the check ended.
    pub checked_at: Timestamp,
    /// Resources that are missing or replaced, or have fields that others changed.
    pub resources: u32,
}

/// Where a deployment stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DeploymentState {
    /// Follows from the last operation.
    pub status: DeploymentStatus,
    /// One sentence for each failure.
    #[serde(default)]
    pub errors: Vec<String>,
}

/// `Modified`: an update is being applied. It becomes `Deployed` when all resources are ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum DeploymentStatus {
    /// Its first manifest is being applied, or there is none yet.
    Created,
    /// All resources of the latest manifest were ready.
    Deployed,
    /// An update is being applied.
    Modified,
    /// The last operation failed. `errors` says why.
    Failed,
    /// Only in the answer to a deletion.
    Deleted,
}
