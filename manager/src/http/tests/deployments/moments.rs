//! What was deployed at a past moment, and what lists count.

use crate::http::tests::*;

async fn got(served: &Served, path: &str) -> Value {
    let answer = send(served, Method::GET, path, &[], Value::Null).await;
    assert_eq!(answer.status(), StatusCode::OK, "{path}");
    answer.json().await.unwrap()
}

fn names(page: &Value) -> Vec<&str> {
    let items = page["items"].as_array().unwrap().iter();
    items.map(|item| item["name"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn instances_of_a_past_moment_are_those_of_the_manifests_that_were_in_force() {
    let served = Served::new().await;
    let before = jiff::Timestamp::now();
    let options = WriteQuery::default();
    let create = creation("web", service("old"));
    served.client.create(&create, &options).await.unwrap();
    let between = jiff::Timestamp::now();
    let preview = WriteQuery {
        preview: true,
        ..WriteQuery::default()
    };
    let both = json!([{"name": "old", "type": "Service"}, {"name": "new", "type": "Service"}]);
    let update = change(both);
    served
        .client
        .update(&web(), &update, &preview)
        .await
        .unwrap();
    let previewed = jiff::Timestamp::now();
    let manifest = got(&served, "/deployments/web").await["preview"].clone();
    let commit = serde_json::from_value(json!({"manifest": manifest})).unwrap();
    served
        .client
        .update(&web(), &commit, &options)
        .await
        .unwrap();
    let after = jiff::Timestamp::now();

    for (at, expected) in [
        (before, vec![]),
        (between, vec!["old"]),
        (previewed, vec!["old"]),
        (after, vec!["old", "new"]),
    ] {
        for of in ["all", "Service"] {
            let page = got(&served, &format!("/types/{of}/instances?at={at}")).await;
            assert_eq!(names(&page), expected, "{of} {at}");
        }
    }
    assert_eq!(
        names(&got(&served, &format!("/types/Pod/instances?at={after}")).await),
        [""; 0]
    );
    let manifests = got(&served, "/deployments/web/manifests").await;
    let [old, new] = manifests["items"].as_array().unwrap().as_slice() else {
        panic!("{manifests}")
    };
    assert_eq!(old["inForceUntil"], new["inForceFrom"]);
    assert!(new["inForceUntil"].is_null() && old["inForceFrom"].is_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_counts_what_fits_by_status_and_ignores_the_wanted_status() {
    let served = Served::new().await;
    for name in ["web-1", "web-2", "db-1"] {
        let create = creation(name, service("a"));
        served
            .client
            .create(&create, &WriteQuery::default())
            .await
            .unwrap();
    }
    let page = got(&served, "/deployments?q=web&status=Failed&counts=true").await;
    assert_eq!(page, json!({"items": [], "counts": {"Deployed": 2}}));
    let page = got(&served, "/deployments?limit=1&counts=true").await;
    assert_eq!(page["counts"], json!({"Deployed": 3}));
    assert_eq!(names(&page).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_graph_has_the_state_of_each_node_if_it_is_asked_for() {
    let served = Served::new().await;
    let create = creation("web", service("a"));
    served
        .client
        .create(&create, &WriteQuery::default())
        .await
        .unwrap();
    let graph = got(&served, "/deployments/web/graph").await;
    assert!(graph["nodes"][0]["state"].is_null());
    let graph = got(&served, "/deployments/web/graph?live=true").await;
    assert_eq!(graph["nodes"][0]["state"], "READY");
    let deployment = got(&served, "/deployments/web").await;
    let may = json!({"update": {"allowed": true}, "delete": {"allowed": true}});
    assert_eq!(deployment["may"], may);
}
