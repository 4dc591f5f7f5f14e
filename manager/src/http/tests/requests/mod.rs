//! What is wrong with a request, lists, and repeats.

mod repeats;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_fault_of_the_service_is_told_by_the_request_id_alone() {
    let served = Served::new().await;
    let damaged = Commit {
        put: vec![(b"deployment\0web".to_vec(), "{".into())],
        ..Commit::default()
    };
    served.bed.kv.commit(damaged).await.unwrap();
    let error = answered(served.client.deployment(&web()).await);
    assert_eq!(error.code, ErrorCode::Internal);
    assert!(!error.message.contains("web"), "{}", error.message);
    assert!(!error.request_id.is_empty());
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
    let first = served.client.deployments(query.clone()).await.unwrap();
    query.page_token = first.next_page_token;
    let second = served.client.deployments(query.clone()).await.unwrap();
    let names: Vec<_> = first
        .items
        .iter()
        .chain(&second.items)
        .map(|deployment| deployment.name.as_str())
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(second.next_page_token, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_misspelt_wish_is_refused_before_anything_is_done() {
    let served = Served::new().await;
    let body = json!({"name": "web", "content": content(service("a"))});
    for query in ["?preveiw=true", "?createPolice=CREATE", "?createPolicy=NEW"] {
        let path = format!("/deployments{query}");
        let refused = send(&served, Method::POST, &path, &[], body.clone()).await;
        let expected = (StatusCode::BAD_REQUEST, ErrorCode::InvalidRequest);
        assert_eq!(code(refused).await, expected, "{query}");
        let path = format!("/deployments/web/diff{query}");
        let body = json!({"content": content(service("a"))});
        let refused = send(&served, Method::POST, &path, &[], body).await;
        assert_eq!(code(refused).await, expected, "{query}");
    }
    let path = "/deployments?timeoutMs=60000&createPolicy=CREATE&deletePolicy=ABANDON";
    let made = send(&served, Method::POST, path, &[], body).await;
    assert_eq!(made.status(), StatusCode::CREATED);
}
