//! Writes that start no operation and come again with their `Idempotency-Key`.

use std::sync::Arc;

use common::api::manager::{IDEMPOTENCY_KEY, IDEMPOTENT_REPLAYED};

use super::*;
use crate::store::kv::MemoryKv;
use crate::testing::{DyingKv, TestBed};

type Row = (Method, &'static str, Value, u16);

/// One after the other; later ones need earlier ones.
fn writes() -> Vec<Row> {
    let template = json!({
        "kind": "Template", "apiVersion": "v1", "metadata": {"name": "own"}, "objects": [],
    });
    let hub = json!({"type": "github", "url": "github.com/o/r", "credential": "own"});
    let far = json!({"name": "far", "url": "https://far:8082"});
    vec![
        (
            Method::POST,
            "/credentials/own",
            json!({"token": "one"}),
            201,
        ),
        (
            Method::POST,
            "/credentials/own",
            json!({"token": "two"}),
            200,
        ),
        (Method::POST, "/registries/hub", hub, 201),
        (Method::POST, "/clusters", far.clone(), 201),
        (Method::PUT, "/clusters/far", far, 200),
        (Method::POST, "/templates", template.clone(), 201),
        (Method::PUT, "/templates/own", template, 200),
        (Method::DELETE, "/templates/own", Value::Null, 200),
        (Method::DELETE, "/clusters/far", Value::Null, 200),
        (Method::DELETE, "/registries/hub", Value::Null, 200),
        (Method::DELETE, "/credentials/own", Value::Null, 200),
    ]
}

struct Got {
    status: u16,
    is_replayed: bool,
    location: Option<String>,
    body: Value,
}

async fn keyed(served: &Served, key: &str, (method, path, body, _): &Row) -> Got {
    let headers = [(IDEMPOTENCY_KEY, key)];
    let response = send(served, method.clone(), path, &headers, body.clone()).await;
    let location = response.headers().get("location");
    Got {
        status: response.status().as_u16(),
        is_replayed: response.headers().contains_key(IDEMPOTENT_REPLAYED),
        location: location.map(|value| value.to_str().unwrap().to_owned()),
        body: response.json().await.unwrap(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_is_done_once_whenever_the_manager_dies_and_the_next_one_knows_its_answer() {
    let rows = writes();
    for commits in 0..2 * rows.len() {
        let kv = Arc::new(MemoryKv::default());
        let dying = DyingKv::after(usize::MAX, kv.clone());
        let first = Served::on(TestBed::on(dying.clone())).await;
        dying.die_after(commits);
        let mut answers = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let got = keyed(&first, &format!("k{at}"), row).await;
            if got.status >= 500 {
                break;
            }
            assert_eq!(got.status, row.3, "{commits}: {row:?}: {}", got.body);
            answers.push(got);
        }
        first.app.engine.suspend().await;
        let next = Served::on(TestBed::on(kv)).await;
        for (at, row) in rows.iter().enumerate() {
            let got = keyed(&next, &format!("k{at}"), row).await;
            assert_eq!(got.status, row.3, "{commits}: {row:?}: {}", got.body);
            if let Some(before) = answers.get(at) {
                assert!(got.is_replayed, "{commits}: {row:?}");
                assert_eq!(got.body, before.body);
                assert_eq!(got.location, before.location);
            }
        }
        assert!(next.client.verify().await.unwrap().ok);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_belongs_to_one_request_whatever_it_does() {
    let served = Served::new().await;
    let hub = json!({"type": "github", "url": "github.com/o/r"});
    let other = json!({"type": "github", "url": "github.com/o/other"});
    let post = |path, body: &Value| (Method::POST, path, body.clone(), 0);
    let deployment = json!(creation("web", service("a")));
    let created = keyed(&served, "k", &post("/registries/hub", &hub)).await;
    assert_eq!((created.status, created.is_replayed), (201, false));
    for row in [
        post("/registries/hub", &other),
        post("/registries/second", &hub),
        post("/deployments", &deployment),
        (Method::DELETE, "/registries/hub", Value::Null, 0),
    ] {
        let refused = keyed(&served, "k", &row).await;
        assert_eq!(refused.status, 422, "{row:?}");
        assert_eq!(refused.body["code"], "IDEMPOTENCY_CONFLICT");
    }
    let created = keyed(&served, "d", &post("/deployments", &deployment)).await;
    assert_eq!(created.status, 201);
    let refused = keyed(&served, "d", &post("/registries/third", &hub)).await;
    assert_eq!(refused.status, 422);
    let refused = keyed(&served, "not a key", &post("/registries/third", &hub)).await;
    assert_eq!(refused.status, 400);
    // What was refused is done when it is possible.
    let early = post("/credentials/own", &json!({"token": ""}));
    assert_eq!(keyed(&served, "e", &early).await.status, 400);
    let row = post("/credentials/own", &json!({"token": "t"}));
    assert_eq!(keyed(&served, "e", &row).await.status, 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_with_one_key_at_the_same_time_are_one() {
    let served = Served::new().await;
    let hub = json!({"type": "github", "url": "github.com/o/r"});
    let row = (Method::POST, "/registries/hub", hub, 201);
    let all = (0..8).map(|_| keyed(&served, "k", &row));
    let all = futures::future::join_all(all).await;
    assert!(all.iter().all(|got| got.status == 201));
    let done = all.iter().filter(|got| !got.is_replayed).count();
    assert_eq!(done, 1);
}
