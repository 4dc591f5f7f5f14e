//! What schemas mark as secret, and the values of Secrets, are in no answer.

use super::*;

/// What the fake expander marks: a password. It is in an object's environment too.
fn secretive(password: &str) -> Value {
    json!([
        {"name": "app", "type": "pair:v1", "properties": {"password": password}},
        {"name": "key", "type": "Secret", "properties": {"stringData": {"token": "t0ken-of-all"}}},
        {"name": "pod", "type": "Pod", "properties": {"url": format!("postgres://u:{password}@db")}},
    ])
}

async fn all_answers(served: &Served) -> String {
    let mut reported = String::new();
    let manifests = served
        .client
        .manifests(&web(), &PageQuery::default())
        .await
        .unwrap();
    let mut paths: Vec<_> = ["", "/resources", "/graph", "/manifests", "/preview"]
        .iter()
        .map(|path| format!("/deployments/web{path}"))
        .collect();
    for manifest in manifests.items {
        let path = format!("/deployments/web/manifests/{}", manifest.name);
        paths.extend([
            format!("{path}/layout"),
            format!("{path}/layout?path=$.resources[0]"),
            path,
        ]);
    }
    paths.extend(["/operations", "/types/all/instances"].map(str::to_owned));
    for path in paths {
        let answer = send(served, Method::GET, &path, &[], json!({})).await;
        reported += &answer.text().await.unwrap();
    }
    reported
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_in_no_answer() {
    let served = Served::new().await;
    let writes = [
        (
            Method::POST,
            "/deployments",
            creation("web", secretive("hunter2!")),
        ),
        (
            Method::POST,
            "/expand",
            creation("web", secretive("hunter2!")),
        ),
    ];
    let mut reported = String::new();
    for (method, path, request) in writes {
        let mut body = json!(request);
        if path == "/expand" {
            body = json!({"name": "web", "content": request.content});
        }
        let answer = send(&served, method, path, &[], body).await;
        assert!(answer.status().is_success());
        reported += &answer.text().await.unwrap();
    }
    let changed = json!({"content": content(secretive("correct horse"))});
    for (method, path) in [
        (Method::POST, "/deployments/web/diff"),
        (Method::PUT, "/deployments/web?preview=true"),
    ] {
        let answer = send(&served, method, path, &[], changed.clone()).await;
        assert!(answer.status().is_success());
        reported += &answer.text().await.unwrap();
    }
    reported += &all_answers(&served).await;
    for secret in ["hunter2", "correct horse", "t0ken"] {
        assert!(!reported.contains(secret), "{secret}: {reported}");
    }
    assert!(
        reported.contains("postgres://u:(redacted)@db"),
        "{reported}"
    );
    assert!(reported.contains("hmac-sha256:"), "{reported}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stands_for_a_secret_is_not_taken_for_one() {
    let served = Served::new().await;
    let name = |n: u8| DeploymentName::parse(format!("web{n}")).unwrap();
    let own = json!([{"name": "app", "type": "pair:v1", "properties": {"password": "(redacted)"}}]);
    let passed_on =
        json!([{"name": "pod", "type": "Pod", "properties": {"url": "u:(redacted)@db"}}]);
    for (number, resources) in [(0, own), (1, passed_on)] {
        let request = creation(name(number).as_str(), resources);
        let refused = answered(served.client.create(&request, &WriteQuery::default()).await);
        assert_eq!(refused.code, ErrorCode::InvalidProperties);
        assert!(
            refused.message.contains("write the value itself"),
            "{refused}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_told_without_secrets_wherever_it_is_told() {
    let served = Served::new().await;
    let mut resources = secretive("hunter2!");
    resources[2]["name"] = json!(REFUSED);
    resources[2]["properties"] = json!({"message": "hunter2!"});
    let request = creation("web", resources);
    let refused = answered(served.client.create(&request, &WriteQuery::default()).await);
    let reported = format!("{refused:?}{}", all_answers(&served).await);
    assert!(!reported.contains("hunter2"), "{reported}");
}
