//! A deployment before and after its operations.

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
        cluster: Default::default(),
        description: String::new(),
        labels: BTreeMap::new(),
        drift_policy: DriftPolicy::Report,
        service_account: None,
    };
    let name = DeploymentName::parse("web").unwrap();
    created(name, &new, OperationId::parse("op-1").unwrap(), at(1))
}

fn web() -> Deployment {
    advanced(begun(), manifest(1), 1, at(1))
}

#[test]
fn a_deployment_goes_from_created_to_deployed_to_modified_to_deleted() {
    let deployed_once = deployed(web(), at(2));
    let modified_once = advanced(deployed_once.clone(), manifest(2), 2, at(3));
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
    let committed = advanced(only, manifest(1), 1, at(2));
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
    assert_eq!(advanced(looked, manifest(2), 2, at(2)).drift, None);
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
