//! Going back: on request, and from a failure; and the guard against deleting most of a deployment.

use common::api::manager::{RollbackDeployment, UpdateDeployment};
use common::model::{DeletePolicy, Deployment};

use crate::deployer::Job;
use crate::http::tests::*;
use crate::store::Store;

fn query(query: Value) -> WriteQuery {
    serde_json::from_value(query).unwrap()
}

async fn deployed(served: &Served, resources: Value) -> Deployment {
    let request = creation("web", resources);
    let created = served.client.create(&request, &WriteQuery::default()).await;
    created.unwrap()
}

fn to(deployment: &Deployment) -> RollbackDeployment {
    RollbackDeployment {
        manifest: deployment.latest_manifest.clone().unwrap(),
    }
}

fn many(count: usize) -> Value {
    let resources = (0..count).map(|n| json!({"name": format!("r{n}"), "type": "Pod"}));
    resources.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_is_a_new_manifest_with_the_very_expansion_of_the_old_one() {
    let served = Served::new().await;
    let (client, write) = (&served.client, WriteQuery::default());
    let first = deployed(&served, json!([{"name": "two", "type": "pair:v1"}])).await;
    client
        .update(&web(), &change(service("b")), &write)
        .await
        .unwrap();
    // The template has changed since: a rollback does not look at it.
    served.bed.add_template("pair", &content(service("other")));
    let expansions = served.bed.expander.requests().len();
    let back = client.rollback(&web(), &to(&first), &write).await.unwrap();
    assert_eq!(back.state.status, DeploymentStatus::Deployed);
    assert_eq!(served.bed.deployer.objects(), ["left", "right"]);
    assert_eq!(served.bed.expander.requests().len(), expansions);
    let name = first.latest_manifest.unwrap();
    let old = client.manifest(&web(), &name).await.unwrap();
    let new = client
        .manifest(&web(), &back.latest_manifest.unwrap())
        .await
        .unwrap();
    assert!(new.name > name);
    assert_eq!(new.digests, old.digests);
    assert_eq!(new.resolved_types, old.resolved_types);
    let types = client.types(&PageQuery::default()).await.unwrap().items;
    let types: Vec<_> = types.iter().map(|summary| summary.name.as_str()).collect();
    assert_eq!(types, ["Pod", "Service", "pair:v1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_to_what_is_not_there_or_from_what_has_changed_is_refused() {
    let served = Served::new().await;
    let first = deployed(&served, service("a")).await;
    let absent = RollbackDeployment {
        manifest: common::model::ManifestName::parse("manifest-1").unwrap(),
    };
    let write = WriteQuery::default();
    let error = answered(served.client.rollback(&web(), &absent, &write).await);
    assert_eq!(error.code, ErrorCode::NotFound);
    let outdated = Write {
        if_match: Some("old".to_owned()),
        ..Write::default()
    };
    let error = answered(served.client.rollback(&web(), &to(&first), outdated).await);
    assert_eq!(error.code, ErrorCode::PreconditionFailed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_to_a_preview_that_was_never_applied_is_refused_and_changes_nothing() {
    let served = Served::new().await;
    deployed(&served, service("a")).await;
    let preview = query(json!({"preview": true}));
    let request = change(service("b"));
    let previewed = served
        .client
        .update(&web(), &request, &preview)
        .await
        .unwrap();
    let manifest = previewed.preview.clone().unwrap();
    let rollback = RollbackDeployment {
        manifest: manifest.clone(),
    };
    let write = WriteQuery::default();
    let error = answered(served.client.rollback(&web(), &rollback, &write).await);
    assert_eq!(error.code, ErrorCode::NeverApplied);
    let after = served.client.deployment(&web()).await.unwrap();
    assert_eq!(after.fingerprint, previewed.fingerprint);
    // Once it was committed, it is a manifest like any other.
    let commit = UpdateDeployment {
        manifest: Some(manifest),
        ..UpdateDeployment::default()
    };
    served.client.update(&web(), &commit, &write).await.unwrap();
    served
        .client
        .update(&web(), &change(service("c")), &write)
        .await
        .unwrap();
    let back = served
        .client
        .rollback(&web(), &rollback, &write)
        .await
        .unwrap();
    assert_eq!(back.state.status, DeploymentStatus::Deployed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_update_goes_back_to_what_was_deployed_if_that_is_asked_for() {
    let served = Served::new().await;
    let first = deployed(&served, service("a")).await;
    let asked = query(json!({"rollbackOnFailure": true}));
    let bad = json!([{"name": "b", "type": "Pod"}, {"name": REFUSED, "type": "Pod"}]);
    let error = answered(served.client.update(&web(), &change(bad), &asked).await);
    assert_eq!(error.code, ErrorCode::ResourcesFailed);
    assert!(
        error.message.contains("was rolled back to"),
        "{}",
        error.message
    );
    let after = served.client.deployment(&web()).await.unwrap();
    assert_eq!(after.state.status, DeploymentStatus::Deployed);
    assert_eq!(served.bed.deployer.objects(), ["a"]);
    let operation = served
        .client
        .operation(&after.operation.unwrap())
        .await
        .unwrap();
    let rollback = operation.rollback.unwrap();
    assert_eq!(rollback.to, first.latest_manifest);
    assert_eq!(rollback.manifest, after.latest_manifest);
    assert_eq!(rollback.error, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_create_is_removed_again_if_that_is_asked_for() {
    let served = Served::new().await;
    let asked = query(json!({"rollbackOnFailure": true}));
    let bad = json!([{"name": "b", "type": "Pod"}, {"name": REFUSED, "type": "Pod"}]);
    let error = answered(served.client.create(&creation("web", bad), &asked).await);
    assert!(
        error.message.ends_with("the deployment was removed again"),
        "{}",
        error.message
    );
    assert_eq!(
        answered(served.client.deployment(&web()).await).code,
        ErrorCode::NotFound
    );
    assert_eq!(served.bed.deployer.objects(), [""; 0]);
}

/// What was there before the deployment is to be given back, and the policy of the write that failed counts.
#[tokio::test(flavor = "multi_thread")]
async fn the_way_back_restores_what_was_acquired_and_keeps_to_the_delete_policy() {
    let served = Served::new().await;
    let asked = query(json!({"rollbackOnFailure": true, "deletePolicy": "ABANDON"}));
    let bad = json!([{"name": "b", "type": "Pod"}, {"name": REFUSED, "type": "Pod"}]);
    answered(
        served
            .client
            .create(&creation("web", bad.clone()), &asked)
            .await,
    );
    let Some(Job::Delete(removal)) = served.bed.deployer.jobs().pop() else {
        panic!("no removal")
    };
    assert!(removal.restore_acquired);
    assert_eq!(removal.delete_policy, Some(DeletePolicy::Abandon));
    deployed(&served, service("a")).await;
    answered(served.client.update(&web(), &change(bad), &asked).await);
    let Some(Job::Update(back)) = served.bed.deployer.jobs().pop() else {
        panic!("no rollback")
    };
    assert!(back.restore_acquired);
    assert_eq!(back.policies.delete, Some(DeletePolicy::Abandon));
    served
        .client
        .delete(&web(), &WriteQuery::default())
        .await
        .unwrap();
    let Some(Job::Delete(removal)) = served.bed.deployer.jobs().pop() else {
        panic!("no deletion")
    };
    assert!(!removal.restore_acquired, "an ordinary deletion deletes");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_way_back_that_fails_too_is_told_with_both_failures() {
    let served = Served::new().await;
    deployed(&served, service("a")).await;
    served
        .bed
        .deployer
        .interrupt([const { Interruption::Away }; 8]);
    let asked = query(json!({"rollbackOnFailure": true}));
    let error = answered(
        served
            .client
            .update(&web(), &change(service("b")), &asked)
            .await,
    );
    assert_eq!(error.code, ErrorCode::DeployerUnavailable);
    assert!(error.message.contains("failed too"), "{}", error.message);
    let after = served.client.deployment(&web()).await.unwrap();
    assert_eq!(after.state.status, DeploymentStatus::Failed);
    let (request, query) = (change(service("b")), WriteQuery::default());
    let updated = served
        .client
        .update(&web(), &request, &query)
        .await
        .unwrap();
    assert_eq!(updated.state.status, DeploymentStatus::Deployed);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_that_would_delete_most_of_a_deployment_must_be_told_that_it_may() {
    let served = Served::new().await;
    let before = deployed(&served, many(10)).await;
    let client = &served.client;
    let jobs = served.bed.deployer.jobs().len();
    let few = change(many(4));
    let error = answered(client.update(&web(), &few, &WriteQuery::default()).await);
    assert_eq!(error.code, ErrorCode::DeletesNotAllowed);
    assert!(
        error.message.contains("6 of the 10 objects"),
        "{}",
        error.message
    );
    assert_eq!(served.bed.deployer.jobs().len(), jobs);
    let after = client.deployment(&web()).await.unwrap();
    assert_eq!(after.fingerprint, before.fingerprint);
    client
        .update(&web(), &few, &query(json!({"allowDeletes": true})))
        .await
        .unwrap();
    assert_eq!(served.bed.deployer.objects().len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn so_many_manifests_are_kept_as_the_operator_wants_and_those_in_use() {
    let mut bed = crate::testing::TestBed::new();
    bed.keep_manifests = Some(2);
    let served = Served::on(bed).await;
    deployed(&served, service("a")).await;
    let (client, write) = (&served.client, WriteQuery::default());
    for name in ["b", "c", "d"] {
        client
            .update(&web(), &change(service(name)), &write)
            .await
            .unwrap();
    }
    let manifests = client
        .manifests(&web(), &PageQuery::default())
        .await
        .unwrap()
        .items;
    assert_eq!(manifests.len(), 2);
    let deployment = client.deployment(&web()).await.unwrap();
    assert_eq!(
        Some(&manifests[1].name),
        deployment.latest_manifest.as_ref()
    );
    let store = Store::open(served.bed.kv.clone()).await.unwrap();
    let verified = crate::store::maintenance::verify::verify(&store)
        .await
        .unwrap();
    assert!(verified.ok, "{:?}", verified.problems);
}
