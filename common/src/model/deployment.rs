//! A deployment: the primary resource of the API, as callers see it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::configuration::Output;
use super::name::{DeploymentName, ManifestName, Namespace, OperationId, ServiceAccountName};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deployment {
    pub name: DeploymentName,
    pub namespace: Namespace,
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
    /// The manifest that was applied last, or is being applied; absent while there is only a preview.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest_manifest: Option<ManifestName>,
    /// The last manifest of which all was applied and ready: what a failed update goes back to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployed_manifest: Option<ManifestName>,
    /// The manifest that shows what an update would do, and that can be committed. A further preview replaces it; an
    /// update drops it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<ManifestName>,
    /// The operation that runs or was the last to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<OperationId>,
    /// Changes with every write; also the `ETag`.
    pub fingerprint: String,
    #[serde(default)]
    pub outputs: Vec<Output>,
    #[serde(default)]
    pub drift_policy: DriftPolicy,
    /// The service account of its namespace that it is applied as. Without one it is applied as its last writer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account: Option<ServiceAccountName>,
    /// What the last scheduled check of the latest manifest found. No change of the deployment: the fingerprint stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
}

/// What is done about drift that a scheduled check finds.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DriftPolicy {
    /// Drift is reported.
    #[default]
    Report,
    /// The latest manifest is applied again.
    Correct,
}

/// How far the cluster is from what a deployment asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Drift {
    pub checked_at: Timestamp,
    /// Resources with fields that others changed, or that are gone or replaced.
    pub resources: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DeploymentState {
    pub status: DeploymentStatus,
    /// One sentence for each thing that failed.
    #[serde(default)]
    pub errors: Vec<String>,
}

/// `Modified`: an update is being applied; it becomes `Deployed` when all is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum DeploymentStatus {
    Created,
    Deployed,
    Modified,
    Failed,
    Deleted,
}
