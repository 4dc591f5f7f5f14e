//! Operations beside each other, without their callers, and stopped.

pub(super) mod events;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn one_operation_at_a_time_and_the_second_is_told_of_the_first() {
    let served = Served::new().await;
    served
        .client
        .create(&creation("web", service("a")), &WriteQuery::default())
        .await
        .unwrap();
    let gate = served.bed.deployer.hold();
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
    assert_eq!(again.code, ErrorCode::OperationRunning);
    assert!(
        again.message.contains(operation.id.as_str()),
        "{}",
        again.message
    );

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
    let gate = served.bed.deployer.hold();
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
        .handle(&operation.id)
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
    let _gate = served.bed.deployer.hold();
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
        served.app.engine.suspend().await;
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
async fn a_stopped_operation_leaves_the_deployment_failed_and_free() {
    let served = Served::new().await;
    let client = &served.client;
    let _gate = served.bed.deployer.hold();
    let request = creation("web", service("a"));
    let started = client
        .create_async(&request, &WriteQuery::default())
        .await
        .unwrap();
    while client.operation(&started.id).await.unwrap().progress.step != "applying" {}
    let stopped = client.stop(&web(), Write::default()).await.unwrap();
    assert_eq!(
        (&stopped.id, stopped.status),
        (&started.id, OperationStatus::Done)
    );
    assert_eq!(stopped.error.unwrap().code, ErrorCode::OperationStopped);
    let after = client.deployment(&web()).await.unwrap();
    assert_eq!(after.state.status, DeploymentStatus::Failed);
    assert!(
        after.state.errors[0].contains("was stopped by anonymous"),
        "{:?}",
        after.state
    );

    let error = answered(client.stop(&web(), Write::default()).await);
    assert_eq!(error.code, ErrorCode::NothingRunning);
    let error = answered(client.cancel(&started.id).await);
    assert_eq!(error.code, ErrorCode::NothingRunning);
    served.bed.deployer.release();
    let (request, query) = (change(service("b")), WriteQuery::default());
    let updated = client.update(&web(), &request, &query).await.unwrap();
    assert_eq!(updated.state.status, DeploymentStatus::Deployed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_update_that_had_not_begun_to_apply_changes_nothing() {
    let served = Served::new().await;
    let client = &served.client;
    let request = creation("web", service("a"));
    let before = client
        .create(&request, &WriteQuery::default())
        .await
        .unwrap();
    served.bed.expander.hang();
    let change = change(service("b"));
    let started = client
        .update_async(&web(), &change, &WriteQuery::default())
        .await
        .unwrap();
    let outdated = Write {
        if_match: Some("old".to_owned()),
        ..Write::default()
    };
    let error = answered(client.stop(&web(), outdated).await);
    assert_eq!(error.code, ErrorCode::PreconditionFailed);
    let stopped = client.cancel(&started.id).await.unwrap();
    assert_eq!(stopped.error.unwrap().code, ErrorCode::OperationStopped);
    assert_eq!(stopped.manifest, None);
    let after = client.deployment(&web()).await.unwrap();
    assert_eq!(
        (after.fingerprint, after.state),
        (before.fingerprint, before.state)
    );
}
