//! How a deployment changes. Each function returns the deployment after one change, with its new fingerprint.

pub mod deletes;
pub mod properties;
pub mod service_binding;

use std::collections::BTreeMap;

use common::api::error::ErrorBody;
use common::canonical;
use common::model::limits::{DESCRIPTION_CHARS, LABEL_CHARS, LABELS};
use common::model::{
    Deployment, DeploymentName, DeploymentState, DeploymentStatus, Drift, ManifestName, OperationId,
};
use jiff::Timestamp;
use serde_json::Value;

use super::operation::intent::{DeploymentChange, Intent, New};

/// Why a description or labels are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DescriptionError {
    #[error("the description is longer than {DESCRIPTION_CHARS} characters")]
    Description,
    #[error("there are more than {LABELS} labels")]
    TooManyLabels,
    #[error(
        "the label {0:?} is not valid: use 1 to {LABEL_CHARS} characters for the key, at most as many for the value, none of them a control character"
    )]
    Label(String),
}

/// Whether a description and labels may be stored.
pub fn check(description: &str, labels: &BTreeMap<String, String>) -> Result<(), DescriptionError> {
    if description.chars().count() > DESCRIPTION_CHARS {
        return Err(DescriptionError::Description);
    }
    if labels.len() > LABELS {
        return Err(DescriptionError::TooManyLabels);
    }
    let fits =
        |text: &str| text.chars().count() <= LABEL_CHARS && !text.chars().any(char::is_control);
    match labels
        .iter()
        .find(|(key, value)| key.is_empty() || !fits(key) || !fits(value))
    {
        Some((key, _)) => Err(DescriptionError::Label(key.chars().take(80).collect())),
        None => Ok(()),
    }
}

/// A deployment without a manifest.
pub fn created(
    name: DeploymentName,
    new: &New,
    operation: OperationId,
    now: Timestamp,
) -> Deployment {
    fingerprinted(Deployment {
        name,
        namespace: new.namespace.clone(),
        cluster: new.cluster.clone(),
        description: new.description.clone(),
        labels: new.labels.clone(),
        created_at: now,
        modified_at: None,
        deployed_at: None,
        deleted_at: None,
        state: DeploymentState {
            status: DeploymentStatus::Created,
            errors: Vec::new(),
        },
        latest_manifest: None,
        deployed_manifest: None,
        preview: None,
        operation: Some(operation),
        fingerprint: String::new(),
        outputs: Vec::new(),
        notes: None,
        revision: None,
        drift_policy: new.drift_policy,
        service_account: new.service_account.clone(),
        drift: None,
        warnings: Vec::new(),
    })
}

/// A manifest is stored as the latest one, and is not applied yet. The preview and the known drift become void.
pub fn advanced(
    deployment: Deployment,
    manifest: ManifestName,
    revision: u64,
    now: Timestamp,
) -> Deployment {
    let first = deployment.latest_manifest.is_none();
    let (status, modified_at) = match first {
        true => (DeploymentStatus::Created, deployment.modified_at),
        false => (DeploymentStatus::Modified, Some(now)),
    };
    fingerprinted(Deployment {
        modified_at,
        state: DeploymentState {
            status,
            errors: Vec::new(),
        },
        latest_manifest: Some(manifest),
        revision: Some(revision),
        preview: None,
        drift: None,
        ..deployment
    })
}

/// Changes that a request makes beside the configuration.
pub fn described(deployment: Deployment, change: &DeploymentChange) -> Deployment {
    fingerprinted(Deployment {
        description: change.description.clone().unwrap_or(deployment.description),
        labels: change.labels.clone().unwrap_or(deployment.labels),
        drift_policy: change.drift_policy.unwrap_or(deployment.drift_policy),
        service_account: change
            .service_account
            .clone()
            .unwrap_or(deployment.service_account),
        ..deployment
    })
}

/// There is a new preview to commit, or none any more.
pub fn previewed(deployment: Deployment, preview: Option<ManifestName>) -> Deployment {
    fingerprinted(Deployment {
        preview,
        ..deployment
    })
}

/// The latest manifest is applied and ready.
pub fn deployed(deployment: Deployment, now: Timestamp) -> Deployment {
    fingerprinted(Deployment {
        deployed_at: Some(now),
        state: DeploymentState {
            status: DeploymentStatus::Deployed,
            errors: Vec::new(),
        },
        deployed_manifest: deployment.latest_manifest.clone(),
        drift: None,
        ..deployment
    })
}

/// The operation failed after the manifest was stored.
fn failed(deployment: Deployment, error: &ErrorBody) -> Deployment {
    let state = DeploymentState {
        status: DeploymentStatus::Failed,
        errors: sentences(error),
    };
    fingerprinted(Deployment {
        state,
        ..deployment
    })
}

/// The operation of `intent` failed after the manifest was stored.
///
/// A failed drift correction keeps the status and records the error: the deployment was ready before, and the next
/// scheduled check retries. With the status `Failed` these checks would stop, so a short outage of the API server would
/// end them for good.
pub fn failed_by(intent: &Intent, deployment: Deployment, error: &ErrorBody) -> Deployment {
    if *intent != Intent::Correct {
        return failed(deployment, error);
    }
    let state = DeploymentState {
        errors: sentences(error),
        ..deployment.state
    };
    fingerprinted(Deployment {
        state,
        ..deployment
    })
}

/// The last state of a removed deployment, for the caller. It is not stored.
pub fn deleted(deployment: Deployment, now: Timestamp) -> Deployment {
    fingerprinted(Deployment {
        deleted_at: Some(now),
        state: DeploymentState {
            status: DeploymentStatus::Deleted,
            errors: Vec::new(),
        },
        outputs: Vec::new(),
        ..deployment
    })
}

/// An operation locks it. The deployment does not change, so the fingerprint stays.
pub fn taken(deployment: Deployment, operation: OperationId) -> Deployment {
    Deployment {
        operation: Some(operation),
        ..deployment
    }
}

/// It was checked for drift. The deployment does not change, so the fingerprint stays.
pub fn checked(deployment: Deployment, drift: Drift) -> Deployment {
    Deployment {
        drift: Some(drift),
        ..deployment
    }
}

/// One sentence for each cause, or for the error itself.
fn sentences(error: &ErrorBody) -> Vec<String> {
    match error.causes.as_slice() {
        [] => vec![error.message.clone()],
        causes => causes.iter().map(|cause| cause.message.clone()).collect(),
    }
}

/// Half of a digest distinguishes states well enough, and is short in a header.
const FINGERPRINT_CHARS: usize = 32;

fn fingerprinted(mut deployment: Deployment) -> Deployment {
    deployment.fingerprint.clear();
    // Only maps whose keys are not strings cannot become a value, and there are none here.
    let mut value = serde_json::to_value(&deployment).unwrap_or(Value::Null);
    if let Some(fields) = value.as_object_mut() {
        fields.remove("operation");
        fields.remove("drift");
    }
    let digest = canonical::digest(&value).to_string();
    let (_, hex) = digest.split_once(':').unwrap_or(("", &digest));
    deployment.fingerprint = hex.chars().take(FINGERPRINT_CHARS).collect();
    deployment
}

#[cfg(test)]
mod tests;
