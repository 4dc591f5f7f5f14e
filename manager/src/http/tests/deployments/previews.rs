//! Previews, their commit, and differences without storing them.

use common::api::deployer::ResourceIntent;
use common::api::manager::DiffQuery;
use common::model::{Deployment, DiffSummary, ManifestName, OperationType};

use crate::http::tests::*;

fn query(query: Value) -> WriteQuery {
    serde_json::from_value(query).unwrap()
}

fn preview() -> WriteQuery {
    query(json!({"preview": true}))
}

fn commit(manifest: Option<ManifestName>) -> UpdateDeployment {
    UpdateDeployment {
        manifest,
        ..UpdateDeployment::default()
    }
}

fn sized(name: &str, size: u64) -> Value {
    json!([{"name": name, "type": "Service", "properties": {"size": size}}])
}

async fn deployed(served: &Served, resources: Value) -> Deployment {
    let request = creation("web", resources);
    let created = served.client.create(&request, &WriteQuery::default()).await;
    created.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_previewed_create_applies_nothing_until_it_is_committed() {
    let served = Served::new().await;
    let client = &served.client;
    let request = creation("web", service("a"));
    let previewed = client.create(&request, &preview()).await.unwrap();
    assert_eq!(previewed.state.status, DeploymentStatus::Created);
    assert_eq!(previewed.latest_manifest, None);
    assert_eq!(served.bed.deployer.jobs(), []);
    assert_eq!(client.types(&PageQuery::default()).await.unwrap().items, []);

    let manifest = client.preview(&web()).await.unwrap();
    assert_eq!(Some(&manifest.name), previewed.preview.as_ref());
    let seen = manifest.preview.clone().unwrap();
    assert_eq!(seen.resources[0].intent, ResourceIntent::Create);
    assert_eq!(seen.base, None);

    let committed = client
        .update(&web(), &commit(previewed.preview), &WriteQuery::default())
        .await
        .unwrap();
    assert_eq!(committed.state.status, DeploymentStatus::Deployed);
    assert_eq!(committed.latest_manifest.as_ref(), Some(&manifest.name));
    assert_eq!(committed.preview, None);
    assert_eq!(served.bed.deployer.objects(), ["a"]);
    assert_eq!(served.bed.expander.requests().len(), 1);
    let kept = client.manifest(&web(), &manifest.name).await.unwrap();
    assert_eq!(kept, manifest);
    let types = client.types(&PageQuery::default()).await.unwrap().items;
    assert_eq!(types[0].instances, 1);
    let operations = client.operations(None, &PageQuery::default()).await;
    let types: Vec<_> = operations
        .unwrap()
        .items
        .iter()
        .map(|operation| operation.operation_type)
        .collect();
    assert_eq!(types, [OperationType::Update, OperationType::Preview]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_of_an_update_tells_each_field_and_leaves_the_deployment_as_it_is() {
    let served = Served::new().await;
    let before = deployed(&served, json!([{"name": "a", "type": "Service", "properties": {"size": 1}}, {"name": "b", "type": "Pod"}])).await;
    let previewed = served
        .client
        .update(&web(), &change(sized("a", 2)), &preview())
        .await
        .unwrap();
    assert_eq!(previewed.state, before.state);
    assert_eq!(previewed.latest_manifest, before.latest_manifest);
    let seen = served.client.preview(&web()).await.unwrap();
    let seen = seen.preview.unwrap();
    assert_eq!(seen.base, before.latest_manifest);
    let expected = DiffSummary {
        update: 1,
        delete: 1,
        ..DiffSummary::default()
    };
    assert_eq!(seen.summary, expected);
    assert_eq!(seen.resources[0].changes[0].after, Some(json!({"size": 2})));
    assert_eq!(served.bed.deployer.properties("a"), json!({"size": 1}));
    let committed = commit(previewed.preview);
    let query = WriteQuery::default();
    served
        .client
        .update(&web(), &committed, &query)
        .await
        .unwrap();
    assert_eq!(served.bed.deployer.objects(), ["a"]);
    assert_eq!(served.bed.deployer.properties("a"), json!({"size": 2}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_is_refused_once_an_object_has_changed_and_nothing_is_applied() {
    let served = Served::new().await;
    deployed(&served, sized("a", 1)).await;
    let change = change(sized("a", 2));
    let previewed = served.client.update(&web(), &change, &preview()).await;
    let previewed = previewed.unwrap();
    served.bed.deployer.edit("a", json!({"size": 7}));
    let request = commit(previewed.preview.clone());
    let query = WriteQuery::default();
    let error = answered(served.client.update(&web(), &request, &query).await);
    assert_eq!(error.code, ErrorCode::PreconditionFailed);
    assert!(
        error.causes[0].message.contains("'a'"),
        "{:?}",
        error.causes
    );
    assert_eq!(served.bed.deployer.properties("a"), json!({"size": 7}));
    let after = served.client.deployment(&web()).await.unwrap();
    assert_eq!(after.fingerprint, previewed.fingerprint);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_latest_preview_on_the_latest_manifest_can_be_committed() {
    let served = Served::new().await;
    deployed(&served, sized("a", 1)).await;
    let (client, query) = (&served.client, WriteQuery::default());
    let first = client
        .update(&web(), &change(sized("a", 2)), &preview())
        .await;
    let first = commit(first.unwrap().preview);
    let second = client
        .update(&web(), &change(sized("a", 3)), &preview())
        .await;
    let second = commit(second.unwrap().preview);
    let replaced = answered(client.update(&web(), &first, &query).await);
    assert_eq!(replaced.code, ErrorCode::NotFound);
    client
        .update(&web(), &change(sized("a", 4)), &query)
        .await
        .unwrap();
    let outdated = answered(client.update(&web(), &second, &query).await);
    assert_eq!(outdated.code, ErrorCode::NotFound);
    let applied = client.deployment(&web()).await.unwrap().latest_manifest;
    let applied = answered(client.update(&web(), &commit(applied), &query).await);
    assert_eq!(applied.code, ErrorCode::PreconditionFailed);
    assert_eq!(served.bed.deployer.properties("a"), json!({"size": 4}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_can_be_dropped_and_what_is_only_previewed_can_be_deleted() {
    let served = Served::new().await;
    let (client, query) = (&served.client, WriteQuery::default());
    let request = creation("web", service("a"));
    client.create(&request, &preview()).await.unwrap();
    let dropped = client.drop_preview(&web(), &query).await.unwrap();
    assert_eq!(dropped.preview, None);
    assert_eq!(
        answered(client.preview(&web()).await).code,
        ErrorCode::NotFound
    );
    let manifests = client.manifests(&web(), &PageQuery::default()).await;
    assert_eq!(manifests.unwrap().items, []);
    client
        .update(&web(), &change(service("a")), &preview())
        .await
        .unwrap();
    client.delete(&web(), &query).await.unwrap();
    let left: Vec<_> = served.bed.keys().await;
    let left = left
        .iter()
        .filter(|key| key.contains("·web·") && !key.starts_with("operation-of"));
    assert_eq!(left.count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_has_the_policies_of_its_preview() {
    let served = Served::new().await;
    deployed(&served, sized("a", 1)).await;
    let client = &served.client;
    let with_policy = query(json!({"preview": true, "conflictPolicy": "TAKE"}));
    let previewed = client
        .update(&web(), &change(sized("a", 2)), &with_policy)
        .await;
    let request = commit(previewed.unwrap().preview);
    let refused = query(json!({"conflictPolicy": "FAIL"}));
    let refused = answered(client.update(&web(), &request, &refused).await);
    assert_eq!(refused.code, ErrorCode::InvalidRequest);
    client
        .update(&web(), &request, &WriteQuery::default())
        .await
        .unwrap();
    let Some(crate::deployer::Job::Update(applied)) = served.bed.deployer.jobs().pop() else {
        panic!("no update")
    };
    assert_eq!(json!(applied.policies), json!({"conflict": "TAKE"}));
    assert_eq!(applied.expected.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_diff_stores_nothing_and_needs_no_deployment() {
    let served = Served::new().await;
    let (client, query) = (&served.client, DiffQuery::default());
    let before = served.bed.keys().await;
    let all_new = client
        .diff(&web(), &change(service("a")), &query)
        .await
        .unwrap();
    assert_eq!(all_new.summary.create, 1);
    assert_eq!(served.bed.keys().await, before);

    let first = deployed(&served, sized("a", 1)).await;
    let same = client
        .diff(&web(), &change(sized("a", 1)), &query)
        .await
        .unwrap();
    assert!(!same.summary.is_change());
    let write = WriteQuery::default();
    client
        .update(&web(), &change(sized("a", 2)), &write)
        .await
        .unwrap();
    let back = client
        .diff(&web(), &commit(first.latest_manifest), &query)
        .await
        .unwrap();
    assert_eq!(back.summary.update, 1);
    let elsewhere: DiffQuery = serde_json::from_value(json!({"namespace": "other"})).unwrap();
    let elsewhere = client.diff(&web(), &change(service("a")), &elsewhere).await;
    assert_eq!(answered(elsewhere).code, ErrorCode::InvalidRequest);
}
