//! What cannot be changed is made anew only where the API server says so, and would create the new object.

use common::api::deployer::{Report, ResourceState};
use resourcifier::plan::DEPLOYMENT;
use serde_json::{Value, json};

use crate::World;
use crate::support::State;

fn map(value: &str) -> Value {
    json!([{"name": "a", "type": "ConfigMap", "properties": {"data": {"v": value}}}])
}

/// Applies one value, makes trouble, and applies another; gives the world and what the second try came to.
async fn second(update: &str, trouble: impl FnOnce(&mut State)) -> (World, Report) {
    let world = World::new();
    let first = world.apply(map("1"), &Report::default()).await;
    world.cluster.with(trouble);
    world.calls();
    let request = json!({
        "resources": map("2"), "recorded": first.objects, "policies": {"update": update}, "timeoutMs": 20_000,
    });
    let report = world.request(request).await.unwrap();
    (world, report)
}

fn value(world: &World) -> Value {
    world
        .cluster
        .with(|state| state.objects["a"]["data"]["v"].clone())
}

fn error(report: &Report) -> String {
    report.errors().map(ToString::to_string).collect()
}

fn name() -> String {
    "a".to_owned()
}

#[tokio::test]
async fn what_cannot_be_changed_is_deleted_and_made_anew() {
    let (world, report) = second("REPLACE", |state| state.immutable.push(name())).await;
    assert_eq!(report.resources[0].state, ResourceState::Ready);
    assert_eq!(value(&world), "2");
    assert_eq!(world.calls(), ["apply a", "delete a", "apply a"]);
}

#[tokio::test]
async fn a_policy_with_the_words_of_validation_loses_no_object() {
    for update in ["REPLACE", "APPLY"] {
        let (world, report) = second(update, |state| state.guarded.push(name())).await;
        assert_eq!(value(&world), "1");
        assert_eq!(world.calls(), ["apply a"], "{update}");
        let error = error(&report);
        assert!(!error.contains("REPLACE"), "{error}");
        assert_eq!(report.objects.len(), 1, "it is still on record");
    }
}

#[tokio::test]
async fn what_could_not_be_created_again_is_not_deleted() {
    let (world, report) = second("REPLACE", |state| {
        state.immutable.push(name());
        state.uncreatable.push(name());
    })
    .await;
    assert_eq!(value(&world), "1");
    let error = error(&report);
    assert!(
        error.contains("data: no") && error.contains("would not create the new object"),
        "{error}"
    );
}

#[tokio::test]
async fn replace_is_recommended_only_where_it_would_help() {
    for (is_creatable, is_recommended) in [(true, true), (false, false)] {
        let (world, report) = second("APPLY", |state| {
            state.immutable.push(name());
            if !is_creatable {
                state.uncreatable.push(name());
            }
        })
        .await;
        assert_eq!(value(&world), "1");
        let error = error(&report);
        assert_eq!(error.contains("REPLACE"), is_recommended, "{error}");
    }
}

#[tokio::test]
async fn a_name_that_another_deployment_takes_in_between_stays_its() {
    let (world, report) = second("REPLACE", |state| {
        state.immutable.push(name());
    })
    .await;
    assert_eq!(report.resources[0].state, ResourceState::Ready);
    let world_of = |call: &'static str| async move {
        let world = World::new();
        let first = world.apply(map("1"), &Report::default()).await;
        world.cluster.with(|state| state.immutable.push(name()));
        world.cluster.before(call, |state| {
            state.remove("a");
            state.others_apply("dm-other", &theirs());
        });
        let request = json!({
            "resources": map("2"), "recorded": first.objects, "policies": {"update": "REPLACE"}, "timeoutMs": 20_000,
        });
        (world.request(request).await.unwrap(), world)
    };
    for call in ["create a", "delete a"] {
        let (report, world) = world_of(call).await;
        let error = error(&report);
        assert!(
            error.contains("belongs to deployment other"),
            "{call}: {error}"
        );
        assert_eq!(value(&world), "theirs", "{call}");
    }
    drop(world);
}

fn theirs() -> Value {
    let metadata = json!({"name": "a", "namespace": "home", "labels": {DEPLOYMENT: "other"}});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"v": "theirs"}})
}
