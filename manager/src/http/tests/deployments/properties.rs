//! Other properties for the stored configuration, and the numbers of revisions.

use crate::http::tests::*;

fn set(properties: Value) -> UpdateDeployment {
    serde_json::from_value(json!({"properties": properties})).unwrap()
}

/// A template instance whose password is a secret, and which shows in what its template was given.
async fn with_password(served: &Served) {
    let instance = json!([{"name": "app", "type": "pair:v1",
        "properties": {"password": "hunter2!", "replicas": 3, "config": {"greeting": "hi"}}}]);
    let request = creation("web", instance);
    let created = served.client.create(&request, &WriteQuery::default()).await;
    created.unwrap();
}

/// What the template was given last, as the expander saw it.
fn given(served: &Served) -> Value {
    let requests = served.bed.expander.requests();
    let content = &requests.last().unwrap().content;
    let read = common::yaml::read(
        content,
        &common::yaml::Limits::DEFAULT,
        common::yaml::Duplicates::Error,
    );
    read.unwrap().value["resources"][0]["properties"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_set_changes_and_all_else_stays_even_what_nobody_can_read() {
    let served = Served::new().await;
    with_password(&served).await;
    let (client, write) = (&served.client, WriteQuery::default());
    let updated = client
        .update(&web(), &set(json!({"replicas": 5})), &write)
        .await;
    assert_eq!(updated.unwrap().state.status, DeploymentStatus::Deployed);
    let kept = json!({"password": "hunter2!", "replicas": 5, "config": {"greeting": "hi"}});
    assert_eq!(given(&served), kept);
    let removal = set(json!({"config": null}));
    client.update(&web(), &removal, &write).await.unwrap();
    assert_eq!(
        given(&served),
        json!({"password": "hunter2!", "replicas": 5})
    );
    let mut reset = set(json!({"replicas": 1}));
    reset.reset_properties = true;
    client.update(&web(), &reset, &write).await.unwrap();
    assert_eq!(given(&served), json!({"replicas": 1}));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stored_configuration_is_deployed_again_with_the_templates_that_it_had() {
    let served = Served::new().await;
    with_password(&served).await;
    let (client, write) = (&served.client, WriteQuery::default());
    served.bed.add_template("pair", &content(service("other")));
    let again = client
        .update(&web(), &set(json!({})), &write)
        .await
        .unwrap();
    assert_eq!(again.state.status, DeploymentStatus::Deployed);
    assert_eq!(served.bed.deployer.objects(), ["left", "right"]);
    assert_eq!(again.revision, Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn other_properties_can_be_previewed_and_compared_first() {
    let served = Served::new().await;
    with_password(&served).await;
    let client = &served.client;
    let request = set(json!({"replicas": 5}));
    let diff = client.diff(&web(), &request, &Default::default()).await;
    assert_eq!(diff.unwrap().summary.unchanged, 2);
    let query: WriteQuery = serde_json::from_value(json!({"preview": true})).unwrap();
    client.update(&web(), &request, &query).await.unwrap();
    assert_eq!(given(&served)["replicas"], 5);
    let preview = client.preview(&web()).await.unwrap();
    let commit = UpdateDeployment {
        manifest: Some(preview.name),
        ..UpdateDeployment::default()
    };
    let committed = client.update(&web(), &commit, &WriteQuery::default()).await;
    assert_eq!(committed.unwrap().revision, preview.revision);
    assert_eq!(preview.revision, Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn properties_go_with_nothing_else_and_need_one_resource() {
    let served = Served::new().await;
    let request = creation(
        "web",
        json!([{"name": "a", "type": "Pod"}, {"name": "b", "type": "Pod"}]),
    );
    let (client, write) = (&served.client, WriteQuery::default());
    client.create(&request, &write).await.unwrap();
    for body in [
        json!({"properties": {}, "content": "resources: []"}),
        json!({"properties": {}, "manifest": "m-1"}),
        json!({"content": "resources: []", "resetProperties": true}),
        json!({"resetProperties": true}),
        json!({}),
    ] {
        let response = send(&served, Method::PUT, "/deployments/web", &[], body.clone()).await;
        let expected = (StatusCode::BAD_REQUEST, ErrorCode::InvalidRequest);
        assert_eq!(code(response).await, expected, "{body}");
    }
    let error = answered(client.update(&web(), &set(json!({"a": 1})), &write).await);
    assert!(
        error.message.contains("has 2 resources"),
        "{}",
        error.message
    );
    let missing = DeploymentName::parse("nobody").unwrap();
    let error = answered(client.update(&missing, &set(json!({})), &write).await);
    assert_eq!(error.code, ErrorCode::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_that_removes_everything_must_be_allowed_also_of_one_object() {
    let served = Served::new().await;
    let (client, write) = (&served.client, WriteQuery::default());
    client
        .create(&creation("web", service("a")), &write)
        .await
        .unwrap();
    let nothing = change(json!([]));
    let error = answered(client.update(&web(), &nothing, &write).await);
    assert_eq!(error.code, ErrorCode::DeletesNotAllowed);
    assert_eq!(served.bed.deployer.objects(), ["a"]);
    let allowed: WriteQuery = serde_json::from_value(json!({"allowDeletes": true})).unwrap();
    client.update(&web(), &nothing, &allowed).await.unwrap();
    assert!(served.bed.deployer.objects().is_empty());
    client.update(&web(), &nothing, &write).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn every_manifest_has_the_next_number_and_the_templates_with_their_versions() {
    let served = Served::new().await;
    with_password(&served).await;
    let (client, write) = (&served.client, WriteQuery::default());
    client
        .update(&web(), &change(service("b")), &write)
        .await
        .unwrap();
    let page = client
        .manifests(&web(), &PageQuery::default())
        .await
        .unwrap();
    let numbers: Vec<_> = page.items.iter().map(|one| one.revision).collect();
    assert_eq!(numbers, [Some(1), Some(2)]);
    assert_eq!(page.items[0].templates, ["pair:v1"]);
    assert!(page.items[1].templates.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drift_policy_that_nobody_follows_is_a_warning() {
    let served = Served::new().await;
    let mut request = creation("web", service("a"));
    request.drift_policy = common::model::DriftPolicy::Correct;
    let client = &served.client;
    let operation = client.create_async(&request, &WriteQuery::default()).await;
    let id = operation.unwrap().id;
    let deployment = loop {
        let operation = client.operation(&id).await.unwrap();
        if operation.status == OperationStatus::Done {
            assert!(operation.warnings[0].contains("--drift-interval"));
            break client.deployment(&web()).await.unwrap();
        }
    };
    assert!(deployment.warnings[0].contains("--drift-interval"));
    let mut bed = crate::testing::TestBed::new();
    bed.drift_checks = true;
    let served = Served::on(bed).await;
    served
        .client
        .create(&request, &WriteQuery::default())
        .await
        .unwrap();
    assert!(
        served
            .client
            .deployment(&web())
            .await
            .unwrap()
            .warnings
            .is_empty()
    );
}
