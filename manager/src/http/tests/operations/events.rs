//! One stream for many operations.

use crate::http::tests::*;

async fn events(served: &Served, query: &str, headers: &[(&str, &str)]) -> Response {
    let path = format!("/events?{query}");
    send(served, Method::GET, &path, headers, Value::Null).await
}

/// A write that runs until the fake's gate opens.
async fn started(served: &Served, name: &str) -> String {
    let headers = [("prefer", "respond-async")];
    let body = json!(creation(name, service("a")));
    let answer = send(served, Method::POST, "/deployments", &headers, body).await;
    let operation: common::model::Operation = answer.json().await.unwrap();
    operation.id.to_string()
}

fn ids(text: &str) -> Vec<&str> {
    text.lines()
        .filter_map(|line| line.strip_prefix("id: "))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_stream_follows_many_operations_to_their_end_and_resumes_all_of_them() {
    let served = Served::new().await;
    let gate = served.bed.deployer.hold();
    let (one, two) = (started(&served, "one").await, started(&served, "two").await);
    let query = format!("operations={one},{two},op-unknown");
    let stream = events(&served, &query, &[]).await;
    gate.add_permits(2);
    let text = stream.text().await.unwrap();
    for id in [&one, &two] {
        assert!(
            text.contains(&format!("\"operation\":\"{id}\",\"report\"")),
            "{text}"
        );
    }
    assert_eq!(text.matches("\"status\":\"DONE\"").count(), 2, "{text}");
    assert_eq!(text.matches("event: refused\n").count(), 1, "{text}");
    assert!(
        text.contains("there is no operation 'op-unknown'"),
        "{text}"
    );

    let all = ids(&text);
    let rest = events(&served, &query, &[("last-event-id", all[all.len() - 2])]).await;
    let rest = rest.text().await.unwrap();
    // The last event, and the refusal again: it has no number.
    assert_eq!(ids(&rest).len(), 2, "{rest}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_of_a_deployment_goes_on_with_its_later_operations() {
    let served = Served::new().await;
    served
        .client
        .create(&creation("web", service("a")), &WriteQuery::default())
        .await
        .unwrap();
    let mut stream = events(&served, "deployment=web", &[]).await;
    let first = stream.chunk().await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&first).contains("\"type\":\"CREATE\""));
    served
        .client
        .delete(&web(), &WriteQuery::default())
        .await
        .unwrap();
    let mut text = String::new();
    while !(text.contains("\"type\":\"DELETE\"") && text.contains("\"status\":\"DONE\"")) {
        text += &String::from_utf8_lossy(&stream.chunk().await.unwrap().unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_says_what_it_needs() {
    let served = Served::new().await;
    let many = vec!["op-1"; 51].join(",");
    for query in [
        "",
        "operations=op-1&deployment=web",
        "operations=/",
        &format!("operations={many}"),
    ] {
        let refused = code(events(&served, query, &[]).await).await;
        assert_eq!(
            refused,
            (StatusCode::BAD_REQUEST, ErrorCode::InvalidRequest),
            "{query}"
        );
    }
    let missing = code(events(&served, "deployment=web", &[]).await).await;
    assert_eq!(missing, (StatusCode::NOT_FOUND, ErrorCode::NotFound));
}
