//! How a deployment changes. Each function returns the deployment after one change, with its new fingerprint.

use std::collections::BTreeMap;

use common::api::error::ErrorBody;
use common::canonical;
use common::model::limits::{DESCRIPTION_CHARS, LABEL_CHARS, LABELS};
use common::model::{
    Deployment, DeploymentName, DeploymentState, DeploymentStatus, Drift, ManifestName, OperationId,
};
use jiff::Timestamp;
use serde_json::Value;

use super::intent::{DeploymentChange, Intent, New};

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
        drift_policy: new.drift_policy,
        service_account: new.service_account.clone(),
        drift: None,
    })
}

/// A manifest is stored as the latest one, and is not applied yet. The preview and the known drift become void.
pub fn advanced(deployment: Deployment, manifest: ManifestName, now: Timestamp) -> Deployment {
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
mod tests {
    use common::api::error::ErrorCode;
    use common::model::{DriftPolicy, Namespace};

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn manifest(number: u8) -> ManifestName {
        ManifestName::parse(format!("m-{number}")).unwrap()
    }

    fn begun() -> Deployment {
        let new = New {
            namespace: Namespace::parse("default").unwrap(),
            description: String::new(),
            labels: BTreeMap::new(),
            drift_policy: DriftPolicy::Report,
            service_account: None,
        };
        let name = DeploymentName::parse("web").unwrap();
        created(name, &new, OperationId::parse("op-1").unwrap(), at(1))
    }

    fn web() -> Deployment {
        advanced(begun(), manifest(1), at(1))
    }

    #[test]
    fn a_deployment_goes_from_created_to_deployed_to_modified_to_deleted() {
        let deployed_once = deployed(web(), at(2));
        let modified_once = advanced(deployed_once.clone(), manifest(2), at(3));
        let gone = deleted(modified_once.clone(), at(4));
        let statuses = [web(), deployed_once, modified_once.clone(), gone].map(|d| d.state.status);
        let expected = [
            DeploymentStatus::Created,
            DeploymentStatus::Deployed,
            DeploymentStatus::Modified,
            DeploymentStatus::Deleted,
        ];
        assert_eq!(statuses, expected);
        assert_eq!(modified_once.latest_manifest, Some(manifest(2)));
        assert_eq!(modified_once.deployed_manifest, Some(manifest(1)));
        assert_eq!(modified_once.created_at, at(1));
    }

    #[test]
    fn a_deployment_that_is_only_previewed_has_no_latest_manifest_and_a_further_one_voids_the_preview()
     {
        let only = previewed(begun(), Some(manifest(1)));
        assert_eq!(only.state.status, DeploymentStatus::Created);
        assert_eq!(
            (only.latest_manifest.clone(), only.preview.clone()),
            (None, Some(manifest(1)))
        );
        let committed = advanced(only, manifest(1), at(2));
        assert_eq!(
            (committed.latest_manifest, committed.preview),
            (Some(manifest(1)), None)
        );
        assert_eq!(committed.state.status, DeploymentStatus::Created);
    }

    #[test]
    fn a_look_for_drift_is_no_change_and_what_it_found_is_void_after_one() {
        let drift = Drift {
            checked_at: at(9),
            resources: 2,
        };
        let looked = checked(web(), drift);
        assert_eq!(looked.fingerprint, web().fingerprint);
        assert_eq!(deployed(looked.clone(), at(2)).drift, None);
        assert_eq!(advanced(looked, manifest(2), at(2)).drift, None);
    }

    #[test]
    fn every_change_changes_the_fingerprint_and_taking_hold_does_not() {
        let before = web();
        assert_ne!(
            deployed(before.clone(), at(2)).fingerprint,
            before.fingerprint
        );
        let taken = taken(before.clone(), OperationId::parse("op-2").unwrap());
        assert_eq!(taken.fingerprint, before.fingerprint);
        assert_eq!(
            deployed(taken, at(2)).fingerprint,
            deployed(before, at(2)).fingerprint
        );
    }

    #[test]
    fn a_failed_deployment_has_a_sentence_for_each_resource() {
        let causes = ["a is refused", "b is not ready"]
            .map(|text| ErrorBody::new(ErrorCode::ResourcesFailed, text));
        let error =
            ErrorBody::new(ErrorCode::ResourcesFailed, "2 of 3 resources failed").caused_by(causes);
        assert_eq!(
            failed(web(), &error).state.errors,
            ["a is refused", "b is not ready"]
        );
        let alone = ErrorBody::new(ErrorCode::DeployerUnavailable, "resourcifier is away");
        assert_eq!(failed(web(), &alone).state.errors, ["resourcifier is away"]);
    }

    #[test]
    fn descriptions_and_labels_are_bounded() {
        let label = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), value.to_owned())]);
        assert_eq!(check("fine", &label("team", "a b")), Ok(()));
        assert_eq!(
            check(&"x".repeat(DESCRIPTION_CHARS + 1), &BTreeMap::new()),
            Err(DescriptionError::Description)
        );
        assert!(check("", &label("", "v")).is_err());
        assert!(check("", &label("k", "a\nb")).is_err());
        let many = (0..=LABELS)
            .map(|n| (n.to_string(), String::new()))
            .collect();
        assert_eq!(check("", &many), Err(DescriptionError::TooManyLabels));
    }
}
