//! What was there before a deployment: taken over, and given back on the way back.

use common::api::deployer::{Action, Report, ResourceState};
use resourcifier::plan::{ACQUIRED, DEPLOYMENT};
use serde_json::{Value, json};

use crate::World;

/// Somebody's object, before any deployment.
fn theirs() -> Value {
    let metadata = json!({"name": "a", "namespace": "home", "labels": {"app": "theirs"}});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"v": "theirs", "keep": "me"}})
}

fn ours(data: Value) -> Value {
    json!([{"name": "a", "type": "ConfigMap", "properties": {"data": data}}])
}

fn live(world: &World) -> Value {
    world.cluster.with(|state| state.objects["a"].clone())
}

/// All of an object but versions.
fn essence(object: &Value) -> Value {
    let mut object = object.clone();
    let metadata = object["metadata"].as_object_mut().unwrap();
    metadata.remove("resourceVersion");
    let annotations = metadata.get("annotations").and_then(Value::as_object);
    if annotations.is_some_and(serde_json::Map::is_empty) {
        metadata.remove("annotations");
    }
    object
}

/// One acquisition; gives the object as it was, and the report of the last apply.
async fn acquired(world: &World, policies: &Value, reapplied: bool) -> (Value, Report) {
    world
        .cluster
        .with(|state| state.others_apply("kubectl", &theirs()));
    let before = live(world);
    let request = |data: Value, recorded: &Report| json!({"resources": ours(data), "recorded": recorded.objects, "policies": policies, "timeoutMs": 20_000});
    let first = request(json!({"v": "ours", "w": "new"}), &Report::default());
    let mut report = world.request(first).await.unwrap();
    assert_eq!(report.resources[0].state, ResourceState::Ready);
    if reapplied {
        let next = request(json!({"v": "ours again", "x": "more"}), &report);
        report = world.request(next).await.unwrap();
    }
    (before, report)
}

#[tokio::test]
async fn on_the_way_back_an_object_is_as_it_was_before_the_deployment() {
    for create in ["ACQUIRE", "CREATE_OR_ACQUIRE"] {
        for conflict in ["TAKE", "YIELD"] {
            for delete in [Value::Null, json!("ABANDON"), json!("DELETE")] {
                for (reapplied, reported) in
                    [(false, true), (false, false), (true, true), (true, false)]
                {
                    let case = format!("{create} {conflict} {delete} {reapplied} {reported}");
                    let world = World::new();
                    let policies = json!({"create": create, "conflict": conflict});
                    let (before, report) = acquired(&world, &policies, reapplied).await;
                    assert_eq!(
                        live(&world)["metadata"]["labels"][DEPLOYMENT],
                        "web",
                        "{case}"
                    );
                    let mut request = json!({"restoreAcquired": true, "deletePolicy": delete});
                    match reported {
                        true => request["recorded"] = json!(report.objects),
                        false => request["unconfirmed"] = ours(json!({})),
                    }
                    world.calls();
                    let removed = world.delete(request).await;
                    assert_eq!(
                        world.cluster.names(),
                        ["a"],
                        "{case}: {:?} {removed:?}",
                        world.calls()
                    );
                    assert_eq!(essence(&live(&world)), essence(&before), "{case}");
                    assert_eq!(
                        removed.resources[0].action,
                        Some(Action::Abandoned),
                        "{case}"
                    );
                    assert!(removed.objects.is_empty(), "{case}");
                }
            }
        }
    }
}

#[tokio::test]
async fn an_ordinary_deletion_deletes_what_was_acquired_unless_its_policy_is_to_abandon() {
    for (policy, is_left) in [("DELETE", false), ("ABANDON", true)] {
        let world = World::new();
        let take = json!({"conflict": "TAKE"});
        let (_, report) = acquired(&world, &take, false).await;
        let request = json!({"recorded": report.objects, "deletePolicy": policy});
        world.delete(request).await;
        assert_eq!(!world.cluster.names().is_empty(), is_left, "{policy}");
        if is_left {
            assert_eq!(live(&world)["data"]["v"], "ours", "its values stay");
            let annotations = &live(&world)["metadata"]["annotations"];
            assert!(annotations.get(ACQUIRED).is_none(), "{annotations}");
        }
    }
}

#[tokio::test]
async fn a_rollback_to_a_state_without_the_object_gives_it_back() {
    let world = World::new();
    let take = json!({"conflict": "TAKE"});
    let (before, report) = acquired(&world, &take, false).await;
    let request = json!({
        "resources": [{"name": "b", "type": "ConfigMap"}], "recorded": report.objects,
        "restoreAcquired": true, "timeoutMs": 20_000,
    });
    let rolled = world.request(request).await.unwrap();
    assert_eq!(world.cluster.names(), ["a", "b"]);
    assert_eq!(essence(&live(&world)), essence(&before));
    assert_eq!(rolled.objects.len(), 1);
}

#[tokio::test]
async fn what_was_acquired_is_applied_again_without_a_change() {
    let world = World::new();
    let take = json!({"conflict": "TAKE"});
    let (_, report) = acquired(&world, &take, false).await;
    let before = live(&world);
    let again = world
        .apply(ours(json!({"v": "ours", "w": "new"})), &report)
        .await;
    assert_eq!(again.resources[0].action, Some(Action::Unchanged));
    assert_eq!(live(&world), before);
}

#[tokio::test]
async fn fields_that_others_changed_meanwhile_stay_theirs() {
    let world = World::new();
    let take = json!({"conflict": "TAKE"});
    let (_, report) = acquired(&world, &take, false).await;
    world.cluster.with(|state| {
        let mut object = theirs();
        object["data"] = json!({"v": "changed"});
        state.others_apply("somebody", &object);
    });
    let request = json!({"recorded": report.objects, "restoreAcquired": true});
    world.delete(request).await;
    assert_eq!(live(&world)["data"], json!({"v": "changed", "keep": "me"}));
}
