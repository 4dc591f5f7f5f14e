//! Events and logs.

use common::api::activity::{EventKind, EventsQuery, LogItem, LogsQuery};
use futures::TryStreamExt;

use crate::http::tests::*;

async fn two(served: &Served) {
    let resources = json!([
        {"name": "a", "type": "Service", "properties": {"size": 1}},
        {"name": "b", "type": "Pod", "properties": {"size": 2}},
    ]);
    let request = creation("web", resources);
    let created = served.client.create(&request, &WriteQuery::default()).await;
    created.unwrap();
}

fn events(query: Value) -> EventsQuery {
    serde_json::from_value(query).unwrap()
}

fn logs(query: Value) -> LogsQuery {
    serde_json::from_value(query).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_those_of_all_resources_or_of_one() {
    let served = Served::new().await;
    two(&served).await;
    let found = |query| {
        let client = &served.client;
        async move { client.cluster_events(&web(), &events(query)).await }
    };
    let all = found(json!({})).await.unwrap().items;
    let names: Vec<_> = all.iter().map(|event| event.resource.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!((all[0].kind, all[0].count), (EventKind::Warning, 2));
    let one = found(json!({"resource": "b"})).await.unwrap().items;
    assert_eq!(one.len(), 1);
    assert_eq!(found(json!({"limit": 1})).await.unwrap().items.len(), 1);
    let error = answered(found(json!({"limit": 0})).await);
    assert_eq!(error.code, ErrorCode::InvalidRequest);
    let error = answered(found(json!({"resource": "c"})).await);
    assert_eq!(error.code, ErrorCode::NotFound);
    assert!(error.message.contains("dm status web"), "{}", error.message);
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_are_lines_and_notices() {
    let served = Served::new().await;
    two(&served).await;
    let read = |query| {
        let client = &served.client;
        async move {
            let stream = client.logs(&web(), &logs(query)).await?;
            stream.try_collect::<Vec<_>>().await
        }
    };
    let all = read(json!({"previous": true, "tail": 20_000}))
        .await
        .unwrap();
    let [LogItem::Notice(notice), LogItem::Line(line)] = all.as_slice() else {
        panic!("other items: {all:?}")
    };
    assert_eq!(notice.message, "tail=10000 previous=true");
    assert_eq!(
        (line.pod.as_str(), line.text.as_str()),
        ("b", r#"{"size":2}"#)
    );
    let one = read(json!({"resource": "b", "container": "side"}))
        .await
        .unwrap();
    assert!(matches!(one.as_slice(), [LogItem::Line(line)] if line.container == "side"));
    let error = answered(read(json!({"resource": "c"})).await);
    assert_eq!(error.code, ErrorCode::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn values_that_the_deployment_hides_are_hidden_in_events_and_logs() {
    let served = Served::new().await;
    let secret = "aVeryLongSecretValue42";
    let resources = json!([
        {"name": "s", "type": "Secret", "properties": {"stringData": {"key": secret}}},
        {"name": "b", "type": "Pod", "properties": {"text": format!("uses {secret}")}},
    ]);
    let request = creation("web", resources);
    let created = served.client.create(&request, &WriteQuery::default()).await;
    created.unwrap();
    let (name, query) = (web(), EventsQuery::default());
    let found = served.client.cluster_events(&name, &query).await;
    let found = format!("{:?}", found.unwrap());
    assert!(!found.contains(secret) && found.contains("uses"), "{found}");
    let stream = served.client.logs(&web(), &LogsQuery::default()).await;
    let read: Vec<_> = stream.unwrap().try_collect().await.unwrap();
    let read = format!("{read:?}");
    assert!(!read.contains(secret) && read.contains("uses"), "{read}");
}
