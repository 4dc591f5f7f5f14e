//! The API from outside: a served manager on a port of its own, fakes behind it.

use common::api::error::{ErrorBody, ErrorCode};
use common::api::manager::{CreateDeployment, UpdateDeployment, WriteQuery};
use common::api::page::PageQuery;
use common::client::ClientError;
use common::model::{DeploymentName, DeploymentStatus, OperationStatus};
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

use crate::deployer::fake::{Interruption, REFUSED, SLOW};
use crate::expander::fake::{BROKEN, away};
use crate::stage::Served;
use crate::store::kv::{Commit, Kv};

fn web() -> DeploymentName {
    DeploymentName::parse("web").unwrap()
}

fn content(resources: Value) -> String {
    json!({"resources": resources}).to_string()
}

fn service(name: &str) -> Value {
    json!([{"name": name, "type": "Service"}])
}

fn creation(name: &str, resources: Value) -> CreateDeployment {
    serde_json::from_value(json!({"name": name, "content": content(resources)})).unwrap()
}

fn change(resources: Value) -> UpdateDeployment {
    serde_json::from_value(json!({"content": content(resources)})).unwrap()
}

fn answered<T: std::fmt::Debug>(outcome: Result<T, ClientError>) -> ErrorBody {
    match outcome {
        Err(ClientError::Answered(body)) => *body,
        other => panic!("not an error of the manager: {other:?}"),
    }
}

async fn send(
    served: &Served,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: Value,
) -> Response {
    let http = common::client::http::builder().build().unwrap();
    let request = http
        .request(method, format!("{}{path}", served.url))
        .json(&body);
    let request = headers.iter().fold(request, |request, (name, value)| {
        request.header(*name, *value)
    });
    request.send().await.unwrap()
}

async fn code(response: Response) -> (StatusCode, ErrorCode) {
    let status = response.status();
    (status, response.json::<ErrorBody>().await.unwrap().code)
}

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
    assert_eq!(served.stage.deployer.objects(), ["b"]);
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
    assert_eq!(served.stage.deployer.objects(), [""; 0]);
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
    assert_eq!(served.stage.deployer.objects(), ["left", "right"]);
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
    let env = &served.stage.expander.requests()[0].env;
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
    assert_eq!(served.stage.deployer.objects(), ["mine"]);
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
    assert_eq!(served.stage.deployer.objects(), ["b"]);
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
    assert_eq!(served.stage.deployer.objects(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn services_that_are_away_are_tried_again_then_named() {
    let served = Served::new().await;
    served.stage.expander.fail_next(2, &away());
    served
        .client
        .create(&creation("patient", service("a")), &WriteQuery::default())
        .await
        .unwrap();
    served.stage.expander.fail_next(4, &away());
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
        .stage
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
async fn one_operation_at_a_time_and_the_second_is_told_of_the_first() {
    let served = Served::new().await;
    served
        .client
        .create(&creation("web", service("a")), &WriteQuery::default())
        .await
        .unwrap();
    let gate = served.stage.deployer.hold();
    let response = send(
        &served,
        Method::PUT,
        "/deployments/web",
        &[("prefer", "respond-async")],
        json!(change(service("b"))),
    )
    .await;
    assert_eq!(response.status(), StatusCode::ACCEPTED);
    let location = response.headers()["location"].to_str().unwrap().to_owned();
    let operation: common::model::Operation = response.json().await.unwrap();
    assert_eq!(location, format!("/operations/{}", operation.id));

    let second = answered(served.client.delete(&web(), &WriteQuery::default()).await);
    assert_eq!(second.code, ErrorCode::OperationRunning);
    assert!(
        second.message.contains(operation.id.as_str()),
        "{}",
        second.message
    );
    let again = answered(
        served
            .client
            .create(&creation("web", service("c")), &WriteQuery::default())
            .await,
    );
    assert_eq!(again.code, ErrorCode::AlreadyExists);

    gate.add_permits(1);
    let events = send(
        &served,
        Method::GET,
        &format!("{location}/events"),
        &[],
        Value::Null,
    )
    .await
    .text()
    .await
    .unwrap();
    assert!(events.contains("event: resource\n"), "{events}");
    assert!(
        events.trim_end().ends_with('}') && events.contains("\"status\":\"DONE\""),
        "{events}"
    );
    assert!(events.contains("\"done\":2,\"total\":2"), "{events}");
    assert_eq!(
        served.client.operation(&operation.id).await.unwrap().status,
        OperationStatus::Done
    );

    let ids: Vec<_> = events
        .lines()
        .filter_map(|line| line.strip_prefix("id: "))
        .collect();
    let resumed = [("last-event-id", ids[ids.len() - 2])];
    let rest = send(
        &served,
        Method::GET,
        &format!("{location}/events"),
        &resumed,
        Value::Null,
    )
    .await
    .text()
    .await
    .unwrap();
    assert_eq!(
        rest.lines().filter(|line| line.starts_with("id: ")).count(),
        1,
        "{rest}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_create_whose_client_went_away_goes_on() {
    let served = Served::new().await;
    let gate = served.stage.deployer.hold();
    let http = common::client::http::builder().build().unwrap();
    let request = http
        .post(format!("{}/deployments", served.url))
        .json(&creation("web", service("a")));
    let caller = tokio::spawn(request.send());
    let operation = loop {
        let found = served
            .client
            .operations(None, &PageQuery::default())
            .await
            .unwrap()
            .items;
        if let Some(operation) = found
            .into_iter()
            .find(|operation| operation.progress.step == "applying")
        {
            break operation;
        }
    };
    caller.abort();
    gate.add_permits(1);
    served
        .app
        .engine
        .ticket(&operation.id)
        .unwrap()
        .outcome()
        .await
        .unwrap();
    assert_eq!(
        served.client.deployment(&web()).await.unwrap().state.status,
        DeploymentStatus::Deployed
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_manager_tells_who_waits_which_operation_to_ask_for() {
    let served = Served::new().await;
    let _gate = served.stage.deployer.hold();
    let asked = creation("web", service("a"));
    let query = WriteQuery::default();
    let waiting = served.client.create(&asked, &query);
    let stopping = async {
        while served
            .client
            .operations(None, &PageQuery::default())
            .await
            .unwrap()
            .items
            .is_empty()
        {}
        served.app.engine.park().await;
    };
    let (answer, ()) = tokio::join!(waiting, stopping);
    let error = answered(answer);
    assert_eq!(error.code, ErrorCode::Unavailable);
    assert!(
        error.message.contains("ask for operation op-"),
        "{}",
        error.message
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expansion_alone_stores_nothing() {
    let served = Served::new().await;
    let before = served.stage.keys().await;
    let body =
        json!({"name": "web", "content": content(json!([{"name": "two", "type": "pair:v1"}]))});
    let expansion = served
        .client
        .expand(&serde_json::from_value(body).unwrap())
        .await
        .unwrap();
    assert_eq!(expansion.expanded_config.resources.len(), 2);
    assert_eq!(expansion.resolved_types.len(), 1);
    assert_eq!(served.stage.keys().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn references_that_lead_on_and_on_are_given_up() {
    let served = Served::new().await;
    for level in 0..40 {
        let further = json!([{"name": "on", "type": format!("level{}:v1", level + 1)}]);
        let template = content(further);
        served
            .stage
            .add_template(&format!("level{level}"), &template);
    }
    let request =
        json!({"name": "web", "content": content(json!([{"name": "on", "type": "level0:v1"}]))});
    let request = serde_json::from_value(request).unwrap();
    let error = answered(served.client.expand(&request).await);
    assert_eq!(error.code, ErrorCode::TooDeep);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fault_of_the_service_is_told_by_the_request_id_alone() {
    let served = Served::new().await;
    let damaged = Commit {
        put: vec![(b"deployment\0web".to_vec(), "{".into())],
        ..Commit::default()
    };
    served.stage.kv.commit(damaged).await.unwrap();
    let error = answered(served.client.deployment(&web()).await);
    assert_eq!(error.code, ErrorCode::Internal);
    assert!(!error.message.contains("web"), "{}", error.message);
    assert!(!error.request_id.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn registries_and_their_templates_are_shown() {
    let served = Served::new().await;
    let registries = served.client.registries().await.unwrap().items;
    assert_eq!(registries[0].name, "default");
    let templates = served
        .client
        .templates("default", None, &PageQuery::default())
        .await
        .unwrap()
        .items;
    assert_eq!(
        (templates[0].name.as_str(), templates[0].versions.as_slice()),
        ("pair", &["v1".to_owned()][..])
    );
    let described = served.client.describe("pair:v1").await.unwrap();
    assert_eq!(described.resolved.version.as_deref(), Some("v1"));
    for path in [
        "/registries/default",
        "/types/pair%3Av1/registry",
        "/registries/default/types/pair:v1",
        "/registries/default/download?file=pair/v1/pair.jinja",
    ] {
        assert_eq!(
            send(&served, Method::GET, path, &[], Value::Null)
                .await
                .status(),
            StatusCode::OK,
            "{path}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_request_is_told_by_its_code() {
    let served = Served::new().await;
    let cases = [
        (
            Method::GET,
            "/deployments/none",
            json!(null),
            404,
            ErrorCode::NotFound,
        ),
        (
            Method::GET,
            "/deployments/Not-A-Name",
            json!(null),
            400,
            ErrorCode::InvalidRequest,
        ),
        (
            Method::GET,
            "/deployments?pageToken=zz",
            json!(null),
            400,
            ErrorCode::InvalidRequest,
        ),
        (
            Method::GET,
            "/deployments?limit=0",
            json!(null),
            400,
            ErrorCode::InvalidRequest,
        ),
        (
            Method::GET,
            "/operations?deploymnet=web",
            json!(null),
            400,
            ErrorCode::InvalidRequest,
        ),
        (
            Method::POST,
            "/healthz",
            json!(null),
            405,
            ErrorCode::MethodNotAllowed,
        ),
        (
            Method::POST,
            "/deployments?prewiev=true",
            json!({"name": "web", "content": "{}"}),
            400,
            ErrorCode::InvalidRequest,
        ),
        (
            Method::GET,
            "/deployments?limit=many",
            json!(null),
            400,
            ErrorCode::InvalidRequest,
        ),
        (
            Method::PATCH,
            "/deployments/web",
            json!(null),
            405,
            ErrorCode::MethodNotAllowed,
        ),
        (
            Method::GET,
            "/nowhere",
            json!(null),
            404,
            ErrorCode::NotFound,
        ),
        (
            Method::GET,
            "/operations/none",
            json!(null),
            404,
            ErrorCode::NotFound,
        ),
        (
            Method::GET,
            "/operations/none/events",
            json!(null),
            404,
            ErrorCode::NotFound,
        ),
        (
            Method::GET,
            "/deployments/none/manifests",
            json!(null),
            404,
            ErrorCode::NotFound,
        ),
        (
            Method::GET,
            "/deployments/none/manifests/m/layout",
            json!(null),
            404,
            ErrorCode::NotFound,
        ),
        (
            Method::GET,
            "/deployments/none/manifests/m/layout?path=x",
            json!(null),
            400,
            ErrorCode::InvalidRequest,
        ),
        (
            Method::GET,
            "/deployments/none/resources",
            json!(null),
            404,
            ErrorCode::NotFound,
        ),
        (
            Method::GET,
            "/types/Service/metadata",
            json!(null),
            404,
            ErrorCode::NotFound,
        ),
        (
            Method::GET,
            "/types/absent:v1/metadata",
            json!(null),
            404,
            ErrorCode::TemplateNotFound,
        ),
        (
            Method::GET,
            "/registries/none",
            json!(null),
            404,
            ErrorCode::NotFound,
        ),
        (
            Method::GET,
            "/registries/default/download?file=none",
            json!(null),
            404,
            ErrorCode::NotFound,
        ),
        (
            Method::POST,
            "/deployments",
            json!({"name": "Web", "content": ""}),
            400,
            ErrorCode::InvalidRequest,
        ),
        (
            Method::POST,
            "/deployments",
            json!({"name": "web"}),
            400,
            ErrorCode::InvalidRequest,
        ),
        (
            Method::POST,
            "/deployments",
            json!({"name": "web", "content": "", "surprise": 1}),
            400,
            ErrorCode::InvalidRequest,
        ),
        (
            Method::POST,
            "/deployments?timeoutMs=0",
            json!({"name": "web", "content": "{}"}),
            400,
            ErrorCode::InvalidRequest,
        ),
        (
            Method::POST,
            "/deployments",
            json!({"name": "web", "content": "{}", "labels": {"": "x"}}),
            400,
            ErrorCode::InvalidRequest,
        ),
        (
            Method::PUT,
            "/deployments/none",
            json!({"content": "{}"}),
            404,
            ErrorCode::NotFound,
        ),
        (
            Method::DELETE,
            "/deployments/none",
            json!(null),
            404,
            ErrorCode::NotFound,
        ),
    ];
    for (method, path, body, status, expected) in cases {
        let answer = code(send(&served, method.clone(), path, &[], body).await).await;
        assert_eq!(
            (answer.0.as_u16(), answer.1),
            (status, expected),
            "{method} {path}"
        );
    }
    let twice = json!({"name": "web", "content": "{}", "imports": [{"name": "a", "content": ""}, {"name": "a", "content": ""}]});
    assert_eq!(
        code(send(&served, Method::POST, "/deployments", &[], twice).await)
            .await
            .1,
        ErrorCode::InvalidRequest
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn readiness_names_all_that_the_manager_depends_on() {
    let served = Served::new().await;
    let readiness = served.client.readiness().await.unwrap();
    let names: Vec<_> = readiness
        .checks
        .iter()
        .map(|check| check.name.as_str())
        .collect();
    assert_eq!(names, ["store", "expandybird", "resourcifier", "registry"]);
    assert!(readiness.ready);
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_come_in_pages() {
    let served = Served::new().await;
    for name in ["a", "b", "c"] {
        served
            .client
            .create(&creation(name, service(name)), &WriteQuery::default())
            .await
            .unwrap();
    }
    let mut query = PageQuery {
        limit: Some(2),
        page_token: None,
    };
    let first = served.client.deployments(&query).await.unwrap();
    query.page_token = first.next_page_token;
    let second = served.client.deployments(&query).await.unwrap();
    let names: Vec<_> = first
        .items
        .iter()
        .chain(&second.items)
        .map(|deployment| deployment.name.as_str())
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(second.next_page_token, None);
}

/// The table of routes as it is written: path, methods.
fn table() -> Vec<(String, String)> {
    let lines = include_str!("mod.rs").lines().map(str::trim);
    let routes = lines.filter(|line| line.starts_with("\"/") && line.ends_with(';'));
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        let path = words.next().unwrap().trim_matches('"').to_owned();
        let methods: Vec<_> = words.step_by(2).collect();
        (path, methods.join(", "))
    };
    routes.map(row).collect()
}

#[test]
fn the_routes_are_a_promise() {
    let rows: Vec<_> = table()
        .into_iter()
        .map(|(path, methods)| format!("{path} {methods}"))
        .collect();
    insta::assert_snapshot!(rows.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_names_the_methods_that_it_has() {
    let served = Served::new().await;
    for (path, methods) in table() {
        let path = path.replace(['{', '}'], "");
        let response = send(&served, Method::PATCH, &path, &[], Value::Null).await;
        assert_eq!(response.headers()["allow"], methods, "{path}");
        assert_eq!(code(response).await.1, ErrorCode::MethodNotAllowed);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registry_is_registered_used_and_removed() {
    let served = Served::new().await;
    let hub = json!({"type": "github", "url": "https://github.com/o/r", "collection": "c"});
    let path = "/registries/hub";
    let response = send(&served, Method::POST, path, &[], hub.clone()).await;
    assert_eq!(response.status(), StatusCode::CREATED);
    assert_eq!(response.headers()["location"], path);
    let again = code(send(&served, Method::POST, path, &[], hub.clone()).await).await;
    assert_eq!(again, (StatusCode::CONFLICT, ErrorCode::AlreadyExists));
    let told = served.client.registry("hub").await.unwrap();
    assert_eq!(serde_json::to_value(&told.definition).unwrap(), hub);
    assert_eq!(served.client.registries().await.unwrap().items.len(), 2);

    let response = send(&served, Method::DELETE, path, &[], json!(null)).await;
    assert_eq!(response.status(), StatusCode::OK);
    let gone = code(send(&served, Method::DELETE, path, &[], json!(null)).await).await;
    assert_eq!(gone, (StatusCode::NOT_FOUND, ErrorCode::NotFound));
    for (path, body) in [
        ("/registries/default", hub.clone()),
        ("/registries/Bad_Name", hub),
        ("/registries/own", json!({"type": "svn", "url": "x"})),
        ("/registries/own", json!({"type": "github", "url": "x"})),
        (
            "/registries/own",
            json!({"type": "directory", "url": "/etc"}),
        ),
        (
            "/registries/own",
            json!({"type": "github", "url": "github.com/o/r", "credential": "none"}),
        ),
    ] {
        let refused = code(send(&served, Method::POST, path, &[], body.clone()).await).await;
        let expected = (StatusCode::BAD_REQUEST, ErrorCode::InvalidRequest);
        assert_eq!(refused, expected, "{path} {body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_is_set_and_its_secret_never_given_back() {
    let served = Served::new().await;
    let path = "/credentials/own";
    let basic = json!({"basic": {"username": "u", "password": "s3cret"}});
    let first = send(&served, Method::POST, path, &[], basic).await;
    assert_eq!(first.status(), StatusCode::CREATED);
    let token = json!({"token": "s3cret"});
    let second = send(&served, Method::POST, path, &[], token).await;
    assert_eq!(second.status(), StatusCode::OK);
    for text in [
        first.text().await.unwrap(),
        second.text().await.unwrap(),
        send(&served, Method::GET, path, &[], json!(null))
            .await
            .text()
            .await
            .unwrap(),
        send(&served, Method::GET, "/credentials", &[], json!(null))
            .await
            .text()
            .await
            .unwrap(),
    ] {
        assert!(
            text.contains("\"own\"") && !text.contains("s3cret"),
            "{text}"
        );
    }
    let hub = json!({"type": "github", "url": "github.com/o/r", "credential": "own"});
    send(&served, Method::POST, "/registries/hub", &[], hub).await;
    let used = send(&served, Method::DELETE, path, &[], json!(null)).await;
    assert_eq!(code(used).await, (StatusCode::CONFLICT, ErrorCode::InUse));
    send(&served, Method::DELETE, "/registries/hub", &[], json!(null)).await;
    let removed = send(&served, Method::DELETE, path, &[], json!(null)).await;
    assert_eq!(removed.status(), StatusCode::OK);
    let gone = send(&served, Method::GET, path, &[], json!(null)).await;
    assert_eq!(
        code(gone).await,
        (StatusCode::NOT_FOUND, ErrorCode::NotFound)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_credential_is_refused_without_being_quoted() {
    let served = Served::new().await;
    for body in [
        json!("s3cret"),
        json!({"s3cret": "x"}),
        json!({"token": "s3cret", "more": 1}),
        json!({"token": "  "}),
        json!({"token": "s3cret\nhost: evil"}),
        json!({"basic": {"username": "a:b", "password": "s3cret"}}),
        json!({"serviceAccount": "s3cret"}),
    ] {
        let refused = send(&served, Method::POST, "/credentials/own", &[], body.clone()).await;
        assert_eq!(refused.status(), StatusCode::BAD_REQUEST, "{body}");
        let text = refused.text().await.unwrap();
        assert!(!text.contains("s3cret"), "{text}");
    }
}
