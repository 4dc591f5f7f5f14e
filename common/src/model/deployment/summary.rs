//! A deployment as a row of a list.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{DeploymentState, Drift, DriftPolicy};
use crate::model::name::{
    ClusterName, DeploymentName, ManifestName, Namespace, OperationId, ServiceAccountName,
};

/// An item of `GET /deployments`: a deployment without what its templates return to its users. `GET /deployments/{d}` also has
/// the outputs, the notes and the warnings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeploymentSummary {
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
    /// Where the deployment stands now.
    pub state: DeploymentState,
    /// The manifest that was applied last, or is being applied. Absent if there is only a preview.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest_manifest: Option<ManifestName>,
    /// The last manifest whose resources were all applied and ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployed_manifest: Option<ManifestName>,
    /// The manifest that shows what an update would do, and that can be committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<ManifestName>,
    /// The operation that is running or ran last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<OperationId>,
    /// Changes with every write. It is also the `ETag`.
    pub fingerprint: String,
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
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::Deployment;

    /// Each field of a deployment is in its summary or is one of those that lists do not have.
    #[test]
    fn a_summary_is_its_deployment_without_what_templates_return() {
        let time = "2026-01-01T00:00:00Z";
        let whole = json!({
            "name": "web", "namespace": "shop", "cluster": "west", "description": "a shop", "labels": {"tier": "front"},
            "createdAt": time, "modifiedAt": time, "deployedAt": time, "deletedAt": time,
            "state": {"status": "Failed", "errors": ["no quota"]},
            "latestManifest": "manifest-2", "deployedManifest": "manifest-1", "preview": "manifest-3", "operation": "op-1",
            "fingerprint": "abc", "outputs": [{"name": "url", "value": "https://web"}], "notes": "Look at it.", "revision": 2,
            "driftPolicy": "CORRECT", "serviceAccount": "deployer", "drift": {"checkedAt": time, "resources": 1},
            "warnings": ["nothing checks for drift"],
        });
        let deployment: Deployment = serde_json::from_value(whole.clone()).unwrap();
        let mut expected = serde_json::to_value(deployment).unwrap();
        assert_eq!(expected, whole, "the example has every field");
        for field in ["deletedAt", "outputs", "notes", "warnings"] {
            expected.as_object_mut().unwrap().remove(field).unwrap();
        }
        let summary: DeploymentSummary = serde_json::from_value(whole).unwrap();
        assert_eq!(serde_json::to_value(summary).unwrap(), expected);
    }
}
