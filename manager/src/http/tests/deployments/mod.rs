//! Creating, reading, updating and deleting, and how each fails.

pub(super) mod activity;
pub(super) mod drift;
pub(super) mod live;
pub(super) mod moments;
mod permissions;
pub(super) mod previews;
pub(super) mod properties;
pub(super) mod repeats;
pub(super) mod rollbacks;
pub(super) mod upgrades;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_deployment_is_created_read_updated_and_deleted() {
    let served = Served::new().await;
    let (client, query) = (&served.client, WriteQuery::default());
    let created = client
        .create(&creation("web", service("a")), &query)
        .await
        .unwrap();
    assert_eq!(created.state.status, DeploymentStatus::Deployed);
    assert_eq!(client.deployment(&web()).await.unwrap(), created);
    let manifest = client
        .manifest(&web(), created.latest_manifest.as_ref().unwrap())
        .await
        .unwrap();
    assert_eq!(manifest.input_config.content, content(service("a")));
    assert!(manifest.digests.expansion.starts_with("sha256:"));

    let updated = client
        .update(
            &web(),
            &change(json!([{"name": "b", "type": "Pod"}])),
            &query,
        )
        .await
        .unwrap();
    assert_eq!(updated.state.status, DeploymentStatus::Deployed);
    assert_eq!(served.bed.deployer.objects(), ["b"]);
    assert_eq!(
        client
            .manifests(&web(), &PageQuery::default())
            .await
            .unwrap()
            .items
            .len(),
        2
    );
    assert_eq!(
        client
            .resources(&web(), &Default::default())
            .await
            .unwrap()
            .items
            .len(),
        1
    );

    let deleted = client.delete(&web(), &query).await.unwrap();
    assert_eq!(deleted.state.status, DeploymentStatus::Deleted);
    assert!(deleted.deleted_at.is_some());
    assert_eq!(served.bed.deployer.objects(), [""; 0]);
    assert_eq!(
        answered(client.deployment(&web()).await).code,
        ErrorCode::NotFound
    );
    assert_eq!(client.types(&PageQuery::default()).await.unwrap().items, []);
    let operations = client
        .operations(Some(&web()), &PageQuery::default())
        .await
        .unwrap()
        .items;
    assert!(operations.iter().all(|operation| operation.status == OperationStatus::Done && operation.error.is_none()));
    assert_eq!(operations.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_created_deployment_comes_with_its_address_and_its_tag() {
    let served = Served::new().await;
    let response = send(
        &served,
        Method::POST,
        "/deployments",
        &[],
        json!(creation("web", service("a"))),
    )
    .await;
    assert_eq!(response.status(), StatusCode::CREATED);
    assert_eq!(response.headers()["location"], "/deployments/web");
    let tag = response.headers()["etag"].to_str().unwrap().to_owned();
    let body: Value = response.json().await.unwrap();
    assert_eq!(
        tag,
        format!("\"{}\"", body["fingerprint"].as_str().unwrap())
    );

    let stale = [("if-match", "\"0123\"")];
    let refused = send(
        &served,
        Method::PUT,
        "/deployments/web",
        &stale,
        json!(change(service("b"))),
    )
    .await;
    assert_eq!(
        code(refused).await,
        (
            StatusCode::PRECONDITION_FAILED,
            ErrorCode::PreconditionFailed
        )
    );
    let refused = send(
        &served,
        Method::DELETE,
        "/deployments/web",
        &stale,
        Value::Null,
    )
    .await;
    assert_eq!(refused.status(), StatusCode::PRECONDITION_FAILED);
    let unreadable = send(
        &served,
        Method::PUT,
        "/deployments/web",
        &[("if-match", "")],
        json!(change(service("b"))),
    )
    .await;
    assert_eq!(unreadable.status(), StatusCode::PRECONDITION_FAILED);
    let accepted = send(
        &served,
        Method::PUT,
        "/deployments/web",
        &[("if-match", &tag)],
        json!(change(service("b"))),
    )
    .await;
    assert_eq!(accepted.status(), StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_template_reference_is_resolved_and_recorded() {
    let served = Served::new().await;
    let resources = json!([{"name": "two", "type": "pair:v1", "properties": {"x": 1}}]);
    let created = served
        .client
        .create(&creation("web", resources), &WriteQuery::default())
        .await
        .unwrap();
    assert_eq!(served.bed.deployer.objects(), ["left", "right"]);
    let manifest = served
        .client
        .manifest(&web(), created.latest_manifest.as_ref().unwrap())
        .await
        .unwrap();
    assert_eq!(manifest.resolved_types.len(), 1);
    assert_eq!(manifest.resolved_types[0].version.as_deref(), Some("v1"));
    let instances = served
        .client
        .instances("pair:v1", &PageQuery::default())
        .await
        .unwrap()
        .items;
    assert_eq!(instances[0].path.to_string(), "$.resources[0]");
    let services = served
        .client
        .instances("Service", &PageQuery::default())
        .await
        .unwrap()
        .items;
    assert_eq!(services[0].path.to_string(), "$.resources[0].resources[0]");
    assert_eq!(
        served
            .client
            .instances("all", &PageQuery::default())
            .await
            .unwrap()
            .items
            .len(),
        3
    );
    let types: Vec<_> = served
        .client
        .types(&PageQuery::default())
        .await
        .unwrap()
        .items
        .into_iter()
        .map(|t| t.name.to_string())
        .collect();
    assert_eq!(types, ["Pod", "Service", "pair:v1"]);
    let node = served
        .client
        .layout_at(&web(), &manifest.name, "$.resources[0].resources[1]")
        .await
        .unwrap();
    assert_eq!(node.name.as_str(), "right");
    let env = &served.bed.expander.requests()[0].env;
    assert_eq!(
        (env["deployment"].as_str(), env["namespace"].as_str()),
        (Some("web"), Some("default"))
    );
    assert_eq!(env["manifest"], json!(manifest.name));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_of_the_caller_wins_over_a_reference() {
    let served = Served::new().await;
    let mut request = creation("web", json!([{"name": "two", "type": "pair:v1"}]));
    let own = json!([{"name": "pair:v1", "content": content(service("mine"))}]);
    request.imports = serde_json::from_value(own).unwrap();
    served
        .client
        .create(&request, &WriteQuery::default())
        .await
        .unwrap();
    assert_eq!(served.bed.deployer.objects(), ["mine"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_that_cannot_be_expanded_is_told_as_the_expander_said_it_and_leaves_no_deployment()
 {
    let served = Served::new().await;
    let mut request = creation("web", json!([]));
    request.content = BROKEN.to_owned();
    let error = answered(served.client.create(&request, &WriteQuery::default()).await);
    assert_eq!(error.code, ErrorCode::TemplateFailed);
    assert_eq!(error.location.unwrap().line, Some(3));
    assert_eq!(error.causes.len(), 1);
    assert_eq!(
        answered(served.client.deployment(&web()).await).code,
        ErrorCode::NotFound
    );

    let unknown = creation("web", json!([{"name": "x", "type": "absent:v1"}]));
    let error = answered(served.client.create(&unknown, &WriteQuery::default()).await);
    assert_eq!(error.code, ErrorCode::TemplateNotFound);
    let location = error.location.unwrap();
    assert_eq!(
        (
            location.line,
            location.resource.as_deref(),
            location.path.as_deref()
        ),
        (Some(1), Some("x"), Some("$.resources[0]"))
    );
    let operations = served
        .client
        .operations(Some(&web()), &PageQuery::default())
        .await
        .unwrap()
        .items;
    assert!(operations.iter().all(|operation| operation.error.is_some()));
    served
        .client
        .create(&creation("web", service("a")), &WriteQuery::default())
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_that_fail_are_named_and_the_deployment_can_be_updated() {
    let served = Served::new().await;
    let resources = json!([{"name": "a", "type": "Service"}, {"name": REFUSED, "type": "Pod"}]);
    let error = answered(
        served
            .client
            .create(&creation("web", resources), &WriteQuery::default())
            .await,
    );
    assert_eq!(error.code, ErrorCode::ResourcesFailed);
    assert_eq!(
        error.causes[0]
            .location
            .as_ref()
            .unwrap()
            .resource
            .as_deref(),
        Some(REFUSED)
    );
    let failed = served.client.deployment(&web()).await.unwrap();
    assert_eq!(failed.state.status, DeploymentStatus::Failed);
    assert_eq!(failed.state.errors, ["refused: the cluster says no"]);
    assert_eq!(
        served
            .client
            .resources(&web(), &Default::default())
            .await
            .unwrap()
            .items
            .len(),
        1
    );
    let updated = served
        .client
        .update(&web(), &change(service("b")), &WriteQuery::default())
        .await
        .unwrap();
    assert_eq!(updated.state.status, DeploymentStatus::Deployed);
    assert_eq!(served.bed.deployer.objects(), ["b"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_that_are_only_late_are_a_time_out() {
    let served = Served::new().await;
    let error = answered(
        served
            .client
            .create(&creation("web", service(SLOW)), &WriteQuery::default())
            .await,
    );
    assert_eq!(error.code, ErrorCode::Timeout);
    assert_eq!(
        served.client.deployment(&web()).await.unwrap().state.status,
        DeploymentStatus::Failed
    );
    served
        .client
        .delete(&web(), &WriteQuery::default())
        .await
        .unwrap();
    assert_eq!(served.bed.deployer.objects(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn services_that_are_away_are_tried_again_then_named() {
    let served = Served::new().await;
    served.bed.expander.fail_next(2, &away());
    served
        .client
        .create(&creation("patient", service("a")), &WriteQuery::default())
        .await
        .unwrap();
    served.bed.expander.fail_next(4, &away());
    let error = answered(
        served
            .client
            .create(&creation("web", service("b")), &WriteQuery::default())
            .await,
    );
    assert_eq!(error.code, ErrorCode::ExpanderUnavailable);
    assert_eq!(
        answered(served.client.deployment(&web()).await).code,
        ErrorCode::NotFound
    );
    served
        .bed
        .deployer
        .interrupt([const { Interruption::Away }; 4]);
    let error = answered(
        served
            .client
            .create(&creation("web", service("b")), &WriteQuery::default())
            .await,
    );
    assert_eq!(error.code, ErrorCode::DeployerUnavailable);
    assert_eq!(
        served.client.deployment(&web()).await.unwrap().state.status,
        DeploymentStatus::Failed
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_can_be_narrowed_and_pages_through_what_matches() {
    let served = Served::new().await;
    for (name, kind, tier) in [
        ("web-1", "Service", "front"),
        ("web-2", "Pod", "front"),
        ("cache", "Pod", "back"),
    ] {
        let mut request = creation(name, json!([{"name": name, "type": kind}]));
        request.labels = [("tier".to_owned(), tier.to_owned())].into();
        let write = WriteQuery::default();
        served.client.create(&request, &write).await.unwrap();
    }
    for (query, expected) in [
        (json!({}), &["cache", "web-1", "web-2"][..]),
        (json!({"q": "WEB"}), &["web-1", "web-2"]),
        (json!({"q": "web", "limit": 1}), &["web-1", "web-2"]),
        (json!({"labelSelector": "tier!=front"}), &["cache"]),
        (json!({"type": "Pod"}), &["cache", "web-2"]),
        (
            json!({"type": "Pod", "labelSelector": "tier in (front)"}),
            &["web-2"],
        ),
        (json!({"status": "Failed"}), &[]),
        (
            json!({"namespace": "default", "limit": 2}),
            &["cache", "web-1", "web-2"],
        ),
        (json!({"namespace": "shop"}), &[]),
        (
            json!({"orderBy": "modifiedAt", "limit": 1}),
            &["cache", "web-2", "web-1"],
        ),
    ] {
        let mut asked: common::api::manager::DeploymentsQuery =
            serde_json::from_value(query.clone()).unwrap();
        let mut found = Vec::new();
        loop {
            let page = served.client.deployments(asked.clone()).await.unwrap();
            found.extend(page.items.into_iter().map(|item| item.name.to_string()));
            asked.page_token = page.next_page_token;
            if asked.page_token.is_none() {
                break;
            }
        }
        assert_eq!(found, expected, "{query}");
    }
    let bad = send(
        &served,
        Method::GET,
        "/deployments?labelSelector=a%20b",
        &[],
        json!({}),
    )
    .await;
    assert_eq!(code(bad).await.1, ErrorCode::InvalidRequest);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_is_deployed_as_it_is_with_its_name_in_the_address() {
    let served = Served::new().await;
    let send = |query: &'static str, body: &'static str| {
        let url = format!("{}/deployments{query}", served.url);
        async move {
            let request = common::client::http::builder().build().unwrap().post(url);
            let request = request.header("content-type", "application/yaml");
            let answer = request.body(body).send().await.unwrap();
            let status = answer.status().as_u16();
            (status, answer.json::<Value>().await.unwrap())
        }
    };
    let configuration = "resources:\n- name: a\n  type: Pod\n";
    let (status, created) = send("?name=web&namespace=shop", configuration).await;
    assert_eq!(status, 201, "{created}");
    assert_eq!(
        (&created["name"], &created["namespace"]),
        (&json!("web"), &json!("shop"))
    );
    let (status, refused) = send("", configuration).await;
    let message = refused["message"].as_str().unwrap();
    assert!(status == 400 && message.contains("?name=NAME"), "{message}");
    for query in ["?name=Not%20A%20Name", "?namespace=shop", "?name=a&other=1"] {
        let (status, refused) = send(query, configuration).await;
        assert_eq!(status, 400, "{query}: {refused}");
    }
}
