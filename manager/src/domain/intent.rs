//! What an operation is asked to do, apart from its configuration. Stored: a change here is a change of format.

use std::collections::BTreeMap;

use common::api::deployer::Policies;
use common::api::manager::present;
use common::model::{
    DeletePolicy, DriftPolicy, ManifestName, Namespace, OperationType, ServiceAccountName, TypeName,
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Intent {
    Create(New),
    Update(Change),
    Delete {
        delete_policy: Option<DeletePolicy>,
    },
    /// Find out and store what a create or an update would do.
    Preview {
        /// Of a deployment that does not exist yet.
        new: Option<New>,
        /// Of one that exists: in whose name the update would be, if not in that of its own service account.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "present"
        )]
        service_account: Option<Option<ServiceAccountName>>,
    },
    /// Apply the preview that the operation's manifest is.
    Commit(Change),
    /// A new manifest with what an earlier one expanded to.
    Rollback {
        to: ManifestName,
    },
    /// Apply the latest manifest again.
    Correct,
}

/// What a new deployment begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct New {
    pub namespace: Namespace,
    pub description: String,
    pub labels: BTreeMap<String, String>,
    #[serde(default)]
    pub drift_policy: DriftPolicy,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account: Option<ServiceAccountName>,
}

/// What becomes of a deployment beside its configuration; what is absent stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    pub description: Option<String>,
    pub labels: Option<BTreeMap<String, String>>,
    #[serde(default)]
    pub drift_policy: Option<DriftPolicy>,
    /// Of an upgrade, the template at its new version: all others stay as the latest manifest has them on record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upgrade: Option<TypeName>,
    /// Another one, or none any more.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub service_account: Option<Option<ServiceAccountName>>,
}

/// How it is to be done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    pub policies: Policies,
    /// Most of what is recorded may be deleted.
    pub allow_deletes: bool,
    /// A failure while it is applied leads back.
    pub rollback_on_failure: bool,
    /// Template references mean what they meant for the latest manifest.
    pub locked: bool,
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
        }
    }

    /// The service account in whose name it is done, of a deployment that has `stored`.
    pub fn service_account<'a>(
        &'a self,
        stored: Option<&'a ServiceAccountName>,
    ) -> Option<&'a ServiceAccountName> {
        match self {
            Intent::Create(new) | Intent::Preview { new: Some(new), .. } => {
                new.service_account.as_ref()
            }
            Intent::Update(Change {
                service_account: Some(chosen),
                ..
            })
            | Intent::Commit(Change {
                service_account: Some(chosen),
                ..
            })
            | Intent::Preview {
                new: None,
                service_account: Some(chosen),
            } => chosen.as_ref(),
            Intent::Update(_)
            | Intent::Commit(_)
            | Intent::Preview { .. }
            | Intent::Delete { .. }
            | Intent::Rollback { .. }
            | Intent::Correct => stored,
        }
    }

    /// What the deployment begins with, if the operation may make it.
    pub fn new_deployment(&self) -> Option<&New> {
        match self {
            Intent::Create(new) => Some(new),
            Intent::Preview { new, .. } => new.as_ref(),
            Intent::Update(_)
            | Intent::Commit(_)
            | Intent::Delete { .. }
            | Intent::Rollback { .. }
            | Intent::Correct => None,
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
