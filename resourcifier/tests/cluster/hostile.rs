//! What a template says that nobody should say: of an object's owners, marks and fields that are not the template's.

use common::api::deployer::{Action, ObjectState};
use common::api::error::ErrorCode;
use serde_json::{Value, json};

use crate::world::{WELL, World, app, error, map};

/// A config map with more in its metadata.
fn with(name: &str, metadata: Value) -> Value {
    json!({"name": name, "type": "ConfigMap", "properties": {"metadata": metadata}})
}

impl World {
    fn names(&self, kind: &str) -> Vec<String> {
        let listed = self.kubectl(&[
            "get",
            kind,
            "--output",
            "jsonpath={.items[*].metadata.name}",
        ]);
        listed.split_whitespace().map(str::to_owned).collect()
    }
}

#[tokio::test]
async fn nothing_is_applied_of_a_template_that_forges_marks_owners_or_the_servers_fields() {
    let world = World::new().await;
    world.create(&json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "theirs"}}));
    let uid = &world.live("configmap", "theirs")["metadata"]["uid"];
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "theirs", "uid": uid, "controller": true, "blockOwnerDeletion": true});
    for metadata in [
        json!({"labels": {"deployment-manager.dev/deployment": "other"}}),
        json!({"annotations": {"deployment-manager.dev/delete-policy": "ABANDON"}}),
        json!({"ownerReferences": [owner]}),
        json!({"uid": uid}),
        json!({"resourceVersion": "1"}),
        json!({"managedFields": [{"manager": "dm-other", "operation": "Apply"}]}),
        json!({"deletionTimestamp": "2020-01-01T00:00:00Z"}),
        json!({"generateName": "it-"}),
        json!({"namespace": "no/path"}),
    ] {
        let resources = json!([map("beside", json!({})), with("it", metadata.clone())]);
        let refused = match world.try_apply(resources, json!({})).await {
            Err(error) => error,
            Ok(report) => panic!("{metadata}: {report:?}"),
        };
        assert!(refused.message.contains("resource it"), "{refused}");
    }
    assert_eq!(world.names("configmap"), ["kube-root-ca.crt", "theirs"]);
    world.end().await;
}

#[tokio::test]
async fn names_that_are_markup_too_long_or_look_alike_are_refused_with_the_resource() {
    let world = World::new().await;
    let long = "x".repeat(254);
    for name in [
        "<script>alert(1)</script>",
        "../secrets/s",
        "раypal",
        "a\u{202e}b",
        "A",
        &long,
    ] {
        let resources = json!([with("it", json!({"name": name}))]);
        let report = world.try_apply(resources, json!({})).await;
        let reported = match report {
            Err(error) => error.message,
            Ok(report) => report.errors().map(|error| error.message.clone()).collect(),
        };
        assert!(reported.contains("resource it"), "{name}: {reported}");
    }
    assert_eq!(world.names("configmap"), ["kube-root-ca.crt"]);
    world.end().await;
}

/// Lists, and what the API server has for doing something with an object, are no objects.
#[tokio::test]
async fn what_is_no_object_is_not_applied() {
    let world = World::new().await;
    for type_name in [
        "List",
        "v1/List",
        "ConfigMapList",
        "TokenRequest",
        "Eviction",
        "Scale",
        "Binding",
        "PodExecOptions",
    ] {
        let properties = json!({"items": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "hidden"}}]});
        let resources = json!([{"name": "it", "type": type_name, "properties": properties}]);
        let refused = world.try_apply(resources, json!({})).await.unwrap_err();
        let is_told = matches!(
            refused.code,
            ErrorCode::UnknownType | ErrorCode::InvalidConfiguration
        );
        assert!(
            is_told && refused.message.contains("it"),
            "{type_name}: {refused}"
        );
    }
    assert_eq!(world.names("configmap"), ["kube-root-ca.crt"]);
    world.end().await;
}

#[tokio::test]
async fn a_status_and_times_that_a_template_gives_say_nothing() {
    let world = World::new().await;
    let mut app = app("app", 1, "simulated.invalid/unready");
    app["properties"]["metadata"] =
        json!({"creationTimestamp": "2001-01-01T00:00:00Z", "generation": 99});
    app["properties"]["status"] = json!({"observedGeneration": 99, "replicas": 1, "readyReplicas": 1, "updatedReplicas": 1, "availableReplicas": 1,
        "conditions": [{"type": "Available", "status": "True"}]});
    let resources = json!([app]);
    let report = world
        .try_apply(resources.clone(), json!({"timeoutMs": 4_000}))
        .await
        .unwrap();
    let refused = error(&report);
    assert!(
        refused.message.contains("it is not ready after"),
        "{refused}"
    );
    let status = world.status(&report, resources, json!({})).await;
    assert_eq!(status[0].state, ObjectState::NotReady);
    assert!(status[0].drift.is_empty(), "{status:?}");
    let live = world.live("deployment", "app");
    assert_ne!(live["status"]["readyReplicas"], 1);
    world.end().await;
}

/// With them, deleting an object would leave its pods, or wait for nothing.
#[tokio::test]
async fn finalizers_of_the_garbage_collector_keep_nothing_of_what_is_deleted() {
    let world = World::new().await;
    let mut resources = json!([
        app("orphans", 1, WELL),
        app("waits", 1, WELL),
        map("map", json!({}))
    ]);
    for (place, finalizer) in ["orphan", "foregroundDeletion", "orphan"]
        .into_iter()
        .enumerate()
    {
        resources[place]["properties"]["metadata"] = json!({"finalizers": [finalizer]});
    }
    let report = world.applied(resources).await;
    let removed = world.delete(&report, 30_000).await;
    assert!(removed.objects.is_empty(), "{removed:?}");
    for kind in ["deployments", "replicasets", "pods"] {
        assert_eq!(world.names(kind), Vec::<String>::new());
    }
    world.end().await;
}

#[tokio::test]
async fn objects_of_one_deployment_may_own_each_other() {
    let world = World::new().await;
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "$(ref.owner.metadata.uid)", "blockOwnerDeletion": true});
    let resources = json!([
        map("owner", json!({})),
        with("owned", json!({"ownerReferences": [owner]}))
    ]);
    let report = world.applied(resources.clone()).await;
    let live = world.live("configmap", "owned");
    let uid = &world.live("configmap", "owner")["metadata"]["uid"];
    assert_eq!(&live["metadata"]["ownerReferences"][0]["uid"], uid);
    let again = world
        .try_apply(resources, json!({"recorded": report.objects}))
        .await
        .unwrap();
    assert!(
        again
            .resources
            .iter()
            .all(|one| one.action == Some(Action::Unchanged)),
        "{again:?}"
    );
    let removed = world.delete(&again, 30_000).await;
    assert!(removed.objects.is_empty(), "{removed:?}");
    world.end().await;
}
