//! The threads that serve requests go on serving while the manager works on large input.

use reqwest::Client;

use super::*;

/// A thread that works on the input itself answers a few times at most: between two parts of the work.
const ANSWERS: usize = 10;

/// Each connection of its own goes to the next of the server's threads.
fn client() -> Client {
    let client = common::client::http::builder().pool_max_idle_per_host(0);
    client.build().unwrap()
}

/// A deployment whose redaction is the most work: many secrets, and long texts that begin as they do over and over.
fn secretive(changed: bool) -> Value {
    let near = "the-same-beginnin the-same-beginning-".repeat(400);
    let app = json!({"name": "app", "type": "pair:v1", "properties": {"password": "hunter2!", "text": near.repeat(200)}});
    let secret = |n: usize| {
        let token = format!("the-same-beginning-{n}");
        json!({"name": format!("key-{n}"), "type": "Secret", "properties": {"stringData": {"token": token}}})
    };
    let map = |n: usize| {
        let data = json!({"text": format!("{near}{changed}"), "n": n});
        json!({"name": format!("map-{n}"), "type": "ConfigMap", "properties": {"data": data}})
    };
    let all = (0..300).map(secret).chain((0..200).map(map));
    std::iter::once(app).chain(all).collect()
}

/// How often `/healthz` answered until the request was answered.
async fn answers(served: &Served, method: Method, path: &str, body: Value) -> usize {
    let (client, mut count) = (client(), 0);
    let request = client
        .request(method, format!("{}{path}", served.url))
        .json(&body);
    let large = tokio::spawn(async move {
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        answer.bytes().await.unwrap();
    });
    while !large.is_finished() {
        let health = client.get(format!("{}/healthz", served.url));
        assert_eq!(health.send().await.unwrap().status(), StatusCode::OK);
        count += 1;
    }
    large.await.unwrap();
    count
}

#[tokio::test(flavor = "multi_thread")]
async fn health_is_answered_while_large_input_is_worked_on() {
    let served = Served::new().await;
    let first = creation("web", secretive(false));
    served
        .client
        .create(&first, Write::default())
        .await
        .unwrap();
    let second = change(secretive(true));
    served
        .client
        .update(&web(), &second, Write::default())
        .await
        .unwrap();
    let page = PageQuery::default();
    let manifests = served.client.manifests(&web(), &page).await.unwrap().items;
    let of = |n: usize| format!("/deployments/web/manifests/{}", manifests[n].name);
    let expansion = json!({"name": "web", "content": first.content});
    let requests = [
        (Method::GET, of(0), json!({})),
        (Method::GET, format!("{}/layout", of(0)), json!({})),
        (
            Method::GET,
            format!("{}/diff?from={}", of(1), manifests[0].name),
            json!({}),
        ),
        (Method::POST, "/expand".to_owned(), expansion),
    ];
    for (method, path, body) in requests {
        let count = answers(&served, method, &path, body).await;
        assert!(count >= ANSWERS, "{path}: {count} answers");
    }
}
