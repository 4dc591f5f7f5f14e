//! What an operation is asked to do, without its configuration. It is stored, so a change here changes the format.

use std::collections::BTreeMap;

use common::api::deployer::Policies;
use common::api::manager::present;
use common::model::{
    ClusterName, DeletePolicy, DriftPolicy, ManifestName, Namespace, OperationType, Predecessor,
    Regenerate, ServiceAccountName, TypeName,
};
use serde::{Deserialize, Serialize};

use crate::domain::deployment::properties::PropertyChange;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Intent {
    Create(New),
    Update(DeploymentChange),
    Delete {
        delete_policy: Option<DeletePolicy>,
    },
    /// Compute and store what a create or an update would do.
    Preview {
        /// For a new deployment.
        new: Option<New>,
        /// For an existing deployment: the service account of the update, if it is not the deployment's own.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "present"
        )]
        service_account: Option<Option<ServiceAccountName>>,
        /// Generated values of an existing deployment that are made again.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        regenerate: Vec<Regenerate>,
        /// For an existing deployment: its stored configuration with other properties.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        properties: Option<PropertyChange>,
    },
    /// Apply the operation's manifest, which is the preview.
    Commit(DeploymentChange),
    /// Make a manifest from the expansion of an earlier one, and apply it.
    Rollback {
        to: ManifestName,
    },
    /// Apply the latest manifest again.
    Correct,
    /// Run the test hooks of the latest manifest.
    Test,
}

/// The initial metadata of a new deployment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct New {
    pub namespace: Namespace,
    #[serde(default)]
    pub cluster: ClusterName,
    pub description: String,
    pub labels: BTreeMap<String, String>,
    #[serde(default)]
    pub drift_policy: DriftPolicy,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account: Option<ServiceAccountName>,
}

/// Changes of a deployment beside its configuration. Absent values stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeploymentChange {
    pub description: Option<String>,
    pub labels: Option<BTreeMap<String, String>>,
    #[serde(default)]
    pub drift_policy: Option<DriftPolicy>,
    /// For an upgrade, the template at its new version. The others stay as the latest manifest has recorded them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upgrade: Option<TypeName>,
    /// Generated values that are made again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regenerate: Vec<Regenerate>,
    /// The latest manifest's configuration with other properties, and with the templates that it has recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub properties: Option<PropertyChange>,
    /// Another service account, or none.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub service_account: Option<Option<ServiceAccountName>>,
}

/// The policies of a write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    pub policies: Policies,
    /// Most of the recorded objects may be deleted.
    pub allow_deletes: bool,
    /// A failure during the apply is rolled back.
    pub rollback_on_failure: bool,
    /// Template references resolve as recorded for the latest manifest.
    pub locked: bool,
    /// The deployment's namespace is created if it is missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub create_namespace: bool,
    /// Apply without the dry run of all objects before the first write.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skip_preflight: bool,
    /// No hooks of charts run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub without_hooks: bool,
    /// The tool whose field managers lose the fields of the objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predecessor: Option<Predecessor>,
}

impl Intent {
    pub fn operation_type(&self) -> OperationType {
        match self {
            Intent::Create(_) => OperationType::Create,
            Intent::Update(_) | Intent::Commit(_) => OperationType::Update,
            Intent::Delete { .. } => OperationType::Delete,
            Intent::Preview { .. } => OperationType::Preview,
            Intent::Rollback { .. } => OperationType::Rollback,
            Intent::Correct => OperationType::Correct,
            Intent::Test => OperationType::Test,
        }
    }

    /// The service account for the operation, if the deployment has `stored`.
    pub fn service_account<'a>(
        &'a self,
        stored: Option<&'a ServiceAccountName>,
    ) -> Option<&'a ServiceAccountName> {
        match self {
            Intent::Create(new) | Intent::Preview { new: Some(new), .. } => {
                new.service_account.as_ref()
            }
            Intent::Update(DeploymentChange {
                service_account: Some(chosen),
                ..
            })
            | Intent::Commit(DeploymentChange {
                service_account: Some(chosen),
                ..
            })
            | Intent::Preview {
                new: None,
                service_account: Some(chosen),
                ..
            } => chosen.as_ref(),
            Intent::Update(_)
            | Intent::Commit(_)
            | Intent::Preview { .. }
            | Intent::Delete { .. }
            | Intent::Rollback { .. }
            | Intent::Correct
            | Intent::Test => stored,
        }
    }

    /// The generated values that the expansion makes again.
    pub fn regenerate(&self) -> &[Regenerate] {
        match self {
            Intent::Update(change) => &change.regenerate,
            Intent::Preview { regenerate, .. } => regenerate,
            Intent::Create(_)
            | Intent::Commit(_)
            | Intent::Delete { .. }
            | Intent::Rollback { .. }
            | Intent::Correct
            | Intent::Test => &[],
        }
    }

    /// The initial metadata, if the operation may create the deployment.
    pub fn new_deployment(&self) -> Option<&New> {
        match self {
            Intent::Create(new) => Some(new),
            Intent::Preview { new, .. } => new.as_ref(),
            Intent::Update(_)
            | Intent::Commit(_)
            | Intent::Delete { .. }
            | Intent::Rollback { .. }
            | Intent::Correct
            | Intent::Test => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn intents_are_read_as_the_first_manager_wrote_them() {
        let stored = [
            json!({"type": "create", "namespace": "default", "description": "", "labels": {}}),
            json!({"type": "update", "description": null, "labels": null}),
            json!({"type": "delete", "deletePolicy": "ABANDON"}),
            json!({"type": "preview", "new": null}),
        ];
        let types = stored.map(|intent| {
            let intent: Intent = serde_json::from_value(intent).unwrap();
            intent.operation_type()
        });
        let expected = [
            OperationType::Create,
            OperationType::Update,
            OperationType::Delete,
            OperationType::Preview,
        ];
        assert_eq!(types, expected);
    }
}
