//! Deployments as they are in the cluster.

use common::api::deployer::ObjectState;
use common::api::manager::ResourcesQuery;

use crate::http::tests::*;

fn query(query: Value) -> ResourcesQuery {
    serde_json::from_value(query).unwrap()
}

async fn three(served: &Served) {
    let resources = json!([
        {"name": "a", "type": "Service", "properties": {"size": 1}},
        {"name": "b", "type": "Pod"},
        {"name": "c", "type": "Secret", "properties": {"data": {}}},
    ]);
    let request = creation("web", resources);
    let created = served.client.create(&request, &WriteQuery::default()).await;
    created.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_come_in_pages_with_their_drift_and_what_was_applied() {
    let served = Served::new().await;
    three(&served).await;
    served.bed.deployer.edit("a", json!({"size": 9}));
    served.bed.deployer.lose("b");
    let first = served
        .client
        .resources(&web(), &query(json!({"limit": 2})))
        .await
        .unwrap();
    let [a, b] = first.items.as_slice() else {
        panic!("not two: {first:?}")
    };
    assert_eq!(a.status.drift[0].before, Some(json!({"size": 9})));
    assert_eq!(a.final_properties, Some(json!({"size": 1})));
    assert_eq!(b.status.state, ObjectState::Missing);
    assert!(a.ready && !b.ready);
    let next = query(json!({"limit": 2, "pageToken": first.next_page_token}));
    let second = served.client.resources(&web(), &next).await.unwrap();
    assert_eq!((second.items.len(), second.next_page_token), (1, None));
    // What is in a Secret stays there.
    assert_eq!(second.items[0].final_properties, None);
    let quick = served
        .client
        .resources(&web(), &query(json!({"drift": false})))
        .await
        .unwrap();
    assert!(quick.items.iter().all(|item| item.status.drift.is_empty()));
    for bad in [json!({"limit": 0}), json!({"pageToken": "x"})] {
        let error = answered(served.client.resources(&web(), &query(bad)).await);
        assert_eq!(error.code, ErrorCode::InvalidRequest);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_graph_tells_what_waits_for_what() {
    let served = Served::new().await;
    three(&served).await;
    let graph = served.client.graph(&web()).await.unwrap();
    let names: Vec<_> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let edges: Vec<_> = graph
        .edges
        .iter()
        .map(|edge| (edge.from, edge.to))
        .collect();
    assert_eq!(edges, [(1, 0), (2, 1)]);
}
