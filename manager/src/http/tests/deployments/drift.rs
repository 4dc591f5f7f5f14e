//! Drift that scheduled checks find, reported and corrected.

use common::model::{DriftPolicy, OperationType};

use crate::http::tests::*;

async fn deployed(served: &Served, policy: DriftPolicy) {
    let resources = json!([
        {"name": "a", "type": "Service", "properties": {"size": 1}},
        {"name": "b", "type": "Pod"},
    ]);
    let mut request = creation("web", resources);
    request.drift_policy = policy;
    let created = served.client.create(&request, &WriteQuery::default()).await;
    created.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_drifted_is_told_in_the_deployment_which_is_not_changed_by_that() {
    let served = Served::new().await;
    deployed(&served, DriftPolicy::Report).await;
    let drift = &served.app.services.drift;
    assert_eq!(drift.round().await.unwrap(), 0);
    let before = served.client.deployment(&web()).await.unwrap();
    assert_eq!(before.drift.clone().map(|drift| drift.resources), Some(0));
    served.bed.deployer.edit("a", json!({"size": 9}));
    served.bed.deployer.lose("b");
    assert_eq!(drift.round().await.unwrap(), 1);
    let after = served.client.deployment(&web()).await.unwrap();
    assert_eq!(after.drift.map(|drift| drift.resources), Some(2));
    assert_eq!(after.fingerprint, before.fingerprint);
    assert_eq!(served.bed.deployer.properties("a"), json!({"size": 9}));
    let metrics = send(&served, Method::GET, "/metrics", &[], Value::Null).await;
    let metrics = metrics.text().await.unwrap();
    assert!(metrics.contains("dm_drift_checks_total"), "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deployment_that_asks_for_it_is_corrected_by_an_operation_of_its_own() {
    let served = Served::new().await;
    deployed(&served, DriftPolicy::Correct).await;
    let before = served.client.deployment(&web()).await.unwrap();
    served.bed.deployer.edit("a", json!({"size": 9}));
    served.bed.deployer.lose("b");
    served.app.services.drift.round().await.unwrap();
    let operations = served.client.operations(None, &PageQuery::default()).await;
    let operation = operations.unwrap().items.remove(0);
    assert_eq!(operation.operation_type, OperationType::Correct);
    assert_eq!(operation.manifest, before.latest_manifest);
    let handle = served.app.engine.handle(&operation.id).unwrap();
    assert_eq!(handle.outcome().await.unwrap().operation.error, None);
    assert_eq!(served.bed.deployer.properties("a"), json!({"size": 1}));
    assert_eq!(served.bed.deployer.objects(), ["a", "b"]);
    assert_eq!(served.app.services.drift.round().await.unwrap(), 0);
    let after = served.client.deployment(&web()).await.unwrap();
    assert_eq!(after.latest_manifest, before.latest_manifest);
    assert_eq!(after.state.status, DeploymentStatus::Deployed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_correction_goes_by_the_policies_of_the_last_write() {
    let served = Served::new().await;
    deployed(&served, DriftPolicy::Correct).await;
    let resources = json!([{"name": "a", "type": "Service", "properties": {"size": 2}}]);
    let asked = json!({"updatePolicy": "REPLACE", "conflictPolicy": "YIELD", "allowDeletes": true});
    let asked: WriteQuery = serde_json::from_value(asked).unwrap();
    let request = change(resources);
    let updated = served.client.update(&web(), &request, &asked).await;
    updated.unwrap();
    for _ in 0..2 {
        served.bed.deployer.edit("a", json!({"size": 9}));
        served.app.services.drift.round().await.unwrap();
        let operations = served.client.operations(None, &PageQuery::default()).await;
        let id = operations.unwrap().items.remove(0).id;
        let handle = served.app.engine.handle(&id).unwrap();
        assert_eq!(handle.outcome().await.unwrap().operation.error, None);
        let Some(crate::deployer::Job::Update(corrected)) = served.bed.deployer.jobs().pop() else {
            panic!("no correction")
        };
        let expected = json!({"update": "REPLACE", "conflict": "YIELD"});
        assert_eq!(json!(corrected.policies), expected);
    }
}
