//! Clusters. What is applied to several of them, the journeys of e2e test.

use super::*;
use crate::store::maintenance::verify::verify;

fn far() -> Value {
    json!({"name": "far", "url": "http://127.0.0.1:1", "labels": {"tier": "dev"}, "capacity": {"memory": "64Gi"}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_is_registered_changed_and_removed() {
    let served = Served::new().await;
    let (all, one) = ("/clusters", "/clusters/far");
    let response = send(&served, Method::POST, all, &[], far()).await;
    assert_eq!(response.status(), StatusCode::CREATED);
    assert_eq!(response.headers()["location"], one);
    let again = code(send(&served, Method::POST, all, &[], far()).await).await;
    assert_eq!(again, (StatusCode::CONFLICT, ErrorCode::AlreadyExists));
    let listed = served.client.clusters(&PageQuery::default()).await.unwrap();
    let names: Vec<_> = listed.items.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["default", "far"]);
    let mut moved = far();
    moved["url"] = "http://127.0.0.1:2".into();
    let response = send(&served, Method::PUT, one, &[], moved.clone()).await;
    assert_eq!(response.status(), StatusCode::OK);
    let shown = served.client.cluster(&listed.items[1].name).await.unwrap();
    assert_eq!(serde_json::to_value(&shown).unwrap(), moved);
    let response = send(&served, Method::DELETE, one, &[], json!(null)).await;
    assert_eq!(response.status(), StatusCode::OK);
    let gone = code(send(&served, Method::DELETE, one, &[], json!(null)).await).await;
    assert_eq!(gone, (StatusCode::NOT_FOUND, ErrorCode::NotFound));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_cluster_can_be_is_refused() {
    let served = Served::new().await;
    send(&served, Method::POST, "/clusters", &[], far()).await;
    let cases = [
        (
            Method::POST,
            "/clusters",
            json!({"name": "default"}),
            "choose another name",
        ),
        (
            Method::POST,
            "/clusters",
            json!({"credential": "none"}),
            "no credential",
        ),
        (
            Method::POST,
            "/clusters",
            json!({"url": "ssh://x"}),
            "write it like",
        ),
        (
            Method::POST,
            "/clusters",
            json!({"token": "t"}),
            "unknown field",
        ),
        (
            Method::PUT,
            "/clusters/far",
            json!({"name": "b"}),
            "the body 'b'",
        ),
        (
            Method::DELETE,
            "/clusters/default",
            json!({}),
            "cannot be removed",
        ),
    ];
    for (method, path, change, expected) in cases {
        let mut body = far();
        body["name"] = if method == Method::POST { "new" } else { "far" }.into();
        for (key, value) in change.as_object().unwrap() {
            body[key] = value.clone();
        }
        let answer = send(&served, method, path, &[], body).await;
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{path}");
        let error: ErrorBody = answer.json().await.unwrap();
        assert!(error.message.contains(expected), "{expected}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_managers_own_cluster_has_labels_and_capacity_and_nothing_else_of_it_changes() {
    let served = Served::new().await;
    send(&served, Method::POST, "/clusters", &[], far()).await;
    let path = "/clusters/default";
    let read = async || -> Value {
        let answer = send(&served, Method::GET, path, &[], Value::Null).await;
        answer.json().await.unwrap()
    };
    let mut own = read().await;
    assert_eq!(own["labels"], json!({}));
    own["labels"] = json!({"tier": "prod"});
    own["capacity"] = json!({"cpu": "8"});
    for _ in 0..2 {
        let answer = send(&served, Method::PUT, path, &[], own.clone()).await;
        assert_eq!(answer.status(), StatusCode::OK);
    }
    assert_eq!(read().await, own);
    let listed = served.client.clusters(&PageQuery::default()).await.unwrap();
    let names: Vec<_> = listed.items.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["default", "far"]);
    for (key, value) in [
        ("url", json!("http://127.0.0.1:1")),
        ("credential", json!("c")),
        ("capacity", json!({"cpu": "many"})),
    ] {
        let mut body = own.clone();
        body[key] = value;
        let refused = code(send(&served, Method::PUT, path, &[], body).await).await;
        assert_eq!(
            refused,
            (StatusCode::BAD_REQUEST, ErrorCode::InvalidRequest),
            "{key}"
        );
    }
    assert_eq!(read().await, own);
    let report = verify(&served.app.services.writes.store).await.unwrap();
    assert!(report.ok, "{:?}", report.problems);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deployment_names_a_cluster_that_there_is_and_stays_there() {
    let served = Served::new().await;
    let mut body = json!({"name": "web", "cluster": "far", "content": content(service("a"))});
    let unknown = send(&served, Method::POST, "/deployments", &[], body.clone()).await;
    assert_eq!(unknown.status(), StatusCode::BAD_REQUEST);
    send(&served, Method::POST, "/clusters", &[], far()).await;
    // Nobody listens there, so the operation fails, and nothing was applied elsewhere.
    let away = code(send(&served, Method::POST, "/deployments", &[], body.clone()).await).await;
    assert_eq!(away.1, ErrorCode::DeployerUnavailable);
    assert_eq!(served.bed.deployer.objects(), [""; 0]);

    body["cluster"] = "default".into();
    let near = send(&served, Method::POST, "/deployments", &[], body).await;
    let near: Value = near.json().await.unwrap();
    assert_eq!(near["cluster"], "default");
    let path = "/deployments/web";
    let change = |cluster: &str| json!({"cluster": cluster, "content": content(service("b"))});
    let refused = send(&served, Method::PUT, path, &[], change("far")).await;
    let error: ErrorBody = refused.json().await.unwrap();
    assert_eq!(error.code, ErrorCode::InvalidRequest);
    assert!(
        error
            .message
            .contains("delete the deployment and deploy it again"),
        "{error}"
    );
    let same = send(&served, Method::PUT, path, &[], change("default")).await;
    assert_eq!(same.status(), StatusCode::OK);
    for (query, expected) in [("far", 0), ("default", 1)] {
        let path = format!("/deployments?cluster={query}");
        let found = send(&served, Method::GET, &path, &[], Value::Null).await;
        let found: Value = found.json().await.unwrap();
        assert_eq!(
            found["items"].as_array().unwrap().len(),
            expected,
            "{found}"
        );
    }
}
