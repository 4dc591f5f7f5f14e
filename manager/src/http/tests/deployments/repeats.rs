//! Requests that come again with their `Idempotency-Key`.

use common::api::manager::IDEMPOTENT_REPLAYED;

use crate::http::tests::*;

fn keyed(key: &str) -> Write {
    Write {
        idempotency_key: Some(key.to_owned()),
        ..Write::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_request_with_the_same_key_is_one_operation_with_one_answer() {
    let served = Served::new().await;
    let (client, request) = (&served.client, creation("web", service("a")));
    let first = client.create(&request, keyed("k1")).await.unwrap();
    assert_eq!(client.create(&request, keyed("k1")).await.unwrap(), first);
    client.delete(&web(), keyed("k2")).await.unwrap();
    // The answer is that of the first time, though the deployment is gone.
    assert_eq!(client.create(&request, keyed("k1")).await.unwrap(), first);
    let again = client.delete(&web(), keyed("k2")).await.unwrap();
    assert_eq!(again.state.status, DeploymentStatus::Deleted);
    let operations = client.operations(None, &PageQuery::default()).await;
    assert_eq!(operations.unwrap().items.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_after_a_restart_is_answered_as_the_first_was() {
    let served = Served::new().await;
    let bad = json!([{"name": REFUSED, "type": "Pod"}]);
    let request = creation("web", bad);
    let first = answered(served.client.create(&request, keyed("k")).await);
    served.app.engine.suspend().await;
    let app = served.bed.manager().await;
    let asked = crate::service::writes::asked::Asked {
        idempotency_key: Some("k".to_owned()),
        ..Default::default()
    };
    let handle = app.services.writes.create(request, asked).await.unwrap();
    let outcome = handle.outcome().await.unwrap();
    let error = outcome.operation.error.clone().unwrap();
    assert_eq!((error.code, error.message), (first.code, first.message));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_request_with_the_same_key_is_refused() {
    let served = Served::new().await;
    let client = &served.client;
    let request = creation("web", service("a"));
    client.create(&request, keyed("k")).await.unwrap();
    for other in [
        creation("web", service("b")),
        creation("other", service("a")),
    ] {
        let error = answered(client.create(&other, keyed("k")).await);
        assert_eq!(error.code, ErrorCode::IdempotencyConflict);
    }
    let error = answered(client.create(&request, keyed("not a key")).await);
    assert_eq!(error.code, ErrorCode::InvalidRequest);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_while_the_first_still_runs_waits_for_the_same_end() {
    let served = Served::new().await;
    let gate = served.bed.deployer.hold();
    let request = creation("web", service("a"));
    let first = served
        .client
        .create_async(&request, keyed("k"))
        .await
        .unwrap();
    let second = served
        .client
        .create_async(&request, keyed("k"))
        .await
        .unwrap();
    assert_eq!(first.id, second.id);
    gate.add_permits(1);
    let answer = served.client.create(&request, keyed("k")).await.unwrap();
    assert_eq!(answer.operation, Some(first.id));
    assert_eq!(served.bed.deployer.jobs().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replayed_answer_is_marked_whatever_it_was_and_whatever_has_become_of_the_deployment() {
    let served = Served::new().await;
    let good = json!(creation("web", service("a")));
    let bad = json!(creation("bad", json!([{"name": REFUSED, "type": "Pod"}])));
    let replayed = async |body: &Value, key: &str, prefer: &str| {
        let headers = [("idempotency-key", key), ("prefer", prefer)];
        let response = send(
            &served,
            Method::POST,
            "/deployments",
            &headers,
            body.clone(),
        )
        .await;
        let mark = response.headers().get(IDEMPOTENT_REPLAYED).cloned();
        (response.status().as_u16(), mark.map(|mark| mark == "true"))
    };
    assert_eq!(replayed(&good, "k", "wait=60").await, (201, None));
    assert_eq!(replayed(&good, "k", "wait=60").await, (201, Some(true)));
    assert_eq!(replayed(&bad, "b", "wait=60").await, (422, None));
    assert_eq!(replayed(&bad, "b", "wait=60").await, (422, Some(true)));
    served
        .client
        .delete(&web(), &WriteQuery::default())
        .await
        .unwrap();
    assert_eq!(replayed(&good, "k", "wait=60").await, (201, Some(true)));
    assert_eq!(
        replayed(&good, "k", "respond-async").await,
        (202, Some(true))
    );
}
