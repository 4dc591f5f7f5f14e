//! Dry runs before the first write: which calls they take, and what they say.

use common::api::deployer::ResourceState;
use common::api::error::ErrorBody;
use serde_json::{Value, json};

use super::{World, states};

/// A ConfigMap with a text of its own.
fn text(name: &str) -> Value {
    json!({"name": name, "type": "ConfigMap", "properties": {"data": {"text": name}}})
}

async fn preflight(world: &World, resources: Value) -> Result<(), ErrorBody> {
    let request = json!({"resources": resources, "timeoutMs": 20_000, "preflight": true});
    world.request(request).await.map(drop)
}

fn tried(world: &World) -> Vec<String> {
    let mut calls = world.calls();
    calls.retain(|call| call.starts_with("try "));
    calls.sort();
    calls
}

#[tokio::test]
async fn objects_that_are_alike_are_tried_once() {
    let world = World::new();
    let other =
        json!({"name": "d", "type": "ConfigMap", "properties": {"data": {"not usual": "d"}}});
    let resources = json!([text("a"), text("b"), text("c"), other]);
    preflight(&world, resources).await.unwrap();
    assert_eq!(tried(&world), ["try a", "try d"]);
    assert_eq!(world.cluster.names(), ["a", "b", "c", "d"]);
}

#[tokio::test]
async fn objects_that_exist_are_tried_each() {
    let world = World::new();
    let resources = json!([text("a"), text("b"), text("c")]);
    let request = json!({"resources": resources, "timeoutMs": 20_000});
    let first = world.request(request).await.unwrap();
    let changed = |name: &str| json!({"name": name, "type": "ConfigMap", "properties": {"data": {"text": "changed"}}});
    let resources = json!([changed("a"), changed("b"), text("c")]);
    let request = json!({"resources": resources, "timeoutMs": 20_000, "preflight": true, "recorded": first.objects});
    world.request(request).await.unwrap();
    assert_eq!(tried(&world), ["try a", "try b"]);
}

#[tokio::test]
async fn a_refusal_is_not_shared() {
    let world = World::new();
    world
        .cluster
        .with(|state| state.refused.extend(["a".to_owned(), "c".to_owned()]));
    let resources = json!([text("a"), text("b"), text("c")]);
    let error = preflight(&world, resources).await.unwrap_err();
    assert_eq!(tried(&world), ["try a", "try b", "try c"]);
    assert!(error.message.contains("2 of 3 objects"), "{error:?}");
    let resource = |cause: &ErrorBody| cause.location.as_ref()?.resource.clone();
    let named: Vec<_> = error.causes.iter().filter_map(resource).collect();
    assert_eq!(named, ["a", "c"]);
    assert_eq!(world.cluster.names(), Vec::<String>::new());
}

#[tokio::test]
async fn a_policy_that_decides_by_names_has_the_last_word_in_the_apply() {
    let world = World::new();
    world
        .cluster
        .with(|state| state.refused.push("b".to_owned()));
    let resources = json!([text("a"), text("b"), text("c")]);
    let request = json!({"resources": resources, "timeoutMs": 20_000, "preflight": true});
    let report = world.request(request).await.unwrap();
    assert_eq!(
        states(&report),
        [
            ("a", ResourceState::Ready),
            ("b", ResourceState::Failed),
            ("c", ResourceState::Ready)
        ]
    );
    assert_eq!(tried(&world), ["try a"]);
}
