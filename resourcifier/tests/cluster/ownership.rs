//! Whose an object is, on a real API server: others write while an operation waits, and policies refuse what they like.

use common::api::deployer::{Action, Report, ResourceState};
use common::api::error::ErrorBody;
use common::model::DeploymentName;
use serde_json::{Value, json};

use crate::world::{WELL, World, app, error, map};

const LABEL: &str = "deployment-manager.dev/deployment";

/// A pod that is ready after a while, and a config map that waits for it.
fn late(value: &str) -> Value {
    let pod = json!({"containers": [{"name": "c", "image": "simulated.invalid/slow:3s"}]});
    let mut late = map("late", json!({"v": value}));
    late["metadata"] = json!({"dependsOn": ["slow"]});
    json!([{"name": "slow", "type": "Pod", "properties": {"spec": pod}}, late])
}

/// Applies while somebody else makes the config map, once the operation waits for the pod.
async fn raced(world: &World, policies: Value, other: impl Fn()) -> Result<Report, ErrorBody> {
    let meanwhile = async {
        let pods = || world.kubectl(&["get", "pods", "--output=name"]);
        world.until(|| pods().contains("pod/slow")).await;
        other();
    };
    let apply = world.try_apply(late("ours"), json!({"policies": policies}));
    let (report, ()) = tokio::join!(apply, meanwhile);
    report
}

fn object(value: &str, labels: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "late", "labels": labels}, "data": {"v": value}})
}

#[tokio::test]
async fn an_object_that_others_make_meanwhile_is_neither_taken_nor_deleted() {
    for (labels, create, conflict, expected) in [
        (json!({}), "CREATE", "TAKE", "it exists already"),
        (
            json!({LABEL: "other"}),
            "CREATE_OR_ACQUIRE",
            "TAKE",
            "belongs to deployment other",
        ),
        (
            json!({LABEL: "other"}),
            "CREATE_OR_ACQUIRE",
            "YIELD",
            "belongs to deployment other",
        ),
    ] {
        let world = World::new().await;
        let policies = json!({"create": create, "conflict": conflict});
        let make = || world.create(&object("theirs", labels.clone()));
        let report = raced(&world, policies, make).await.unwrap();
        let message = &error(&report).message;
        assert!(message.contains(expected), "{message}");
        let theirs = world.live("configmap", "late");
        assert_eq!(theirs["data"]["v"], "theirs");
        world.delete(&report, 30_000).await;
        assert_eq!(world.live("configmap", "late"), theirs);
        world.end().await;
    }
}

#[tokio::test]
async fn what_was_made_without_a_report_is_deleted_by_an_older_record() {
    let world = World::new().await;
    let resources = json!([map("a", json!({})), map("b", json!({}))]);
    let older = world.applied(resources.clone()).await;
    world.kubectl(&["delete", "configmap", "a", "b"]);
    world.applied(resources).await;
    let deleted = world.delete(&older, 30_000).await;
    assert!(deleted.objects.is_empty(), "{deleted:?}");
    let left = world.kubectl(&["get", "configmaps", "--output=name"]);
    assert_eq!(left.trim(), "configmap/kube-root-ca.crt");
    world.end().await;
}

/// A policy for the config maps of the world's namespace; returns once the API server keeps to it.
async fn refuse(world: &World, operation: &str) -> String {
    let name = format!("{}-{}", world.namespace, operation.to_lowercase());
    let rules = json!([{"apiGroups": [""], "apiVersions": ["v1"], "operations": [operation], "resources": ["configmaps"]}]);
    let own = json!({"matchLabels": {"kubernetes.io/metadata.name": world.namespace}});
    world.create(&json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": rules, "namespaceSelector": own},
            "validations": [{"expression": "false", "reason": "Invalid", "message": "updates to data are not allowed: field is immutable"}],
        },
    }));
    world.create(&json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    }));
    let probe: &[&str] = match operation {
        "CREATE" => &["create", "configmap", "probe", "--dry-run=server"],
        _ => &[
            "annotate",
            "configmap",
            "kube-root-ca.crt",
            "--dry-run=server",
            "probe=probe",
        ],
    };
    let place = ["--namespace", &world.namespace];
    let probe = || world.cluster.kubectl(&[&place[..], probe].concat());
    world.until(|| probe().is_err()).await;
    name
}

fn allow(world: &World, name: &str) {
    for kind in [
        "validatingadmissionpolicybinding",
        "validatingadmissionpolicy",
    ] {
        world.kubectl(&["delete", kind, name]);
    }
}

#[tokio::test]
async fn a_policy_that_refuses_updates_with_the_words_of_validation_costs_no_object() {
    let world = World::new().await;
    world.kubectl(&["wait", "--for=create", "configmap/kube-root-ca.crt"]);
    let first = world.applied(json!([map("a", json!({"v": "1"}))])).await;
    let policy = refuse(&world, "UPDATE").await;
    for update in ["REPLACE", "APPLY"] {
        let more = json!({"policies": {"update": update}, "recorded": first.objects});
        let report = world
            .try_apply(json!([map("a", json!({"v": "2"}))]), more)
            .await
            .unwrap();
        let message = &error(&report).message;
        assert!(
            message.contains("not allowed") && !message.contains("REPLACE"),
            "{message}"
        );
        let uid = &world.live("configmap", "a")["metadata"]["uid"];
        assert_eq!(*uid, json!(first.objects[0].uid));
    }
    allow(&world, &policy);
    world.end().await;
}

#[tokio::test]
async fn an_object_is_not_replaced_by_one_that_would_be_refused() {
    let world = World::new().await;
    world.kubectl(&["wait", "--for=create", "configmap/kube-root-ca.crt"]);
    let immutable = |value: &str| {
        let mut map = map("a", json!({"v": value}));
        map["properties"]["immutable"] = json!(true);
        json!([map])
    };
    let first = world.applied(immutable("1")).await;
    let policy = refuse(&world, "CREATE").await;
    let more = json!({"policies": {"update": "REPLACE"}, "recorded": first.objects});
    let report = world.try_apply(immutable("2"), more.clone()).await.unwrap();
    let message = &error(&report).message;
    assert!(
        message.contains("would not create the new object"),
        "{message}"
    );
    assert_eq!(world.live("configmap", "a")["data"]["v"], "1");
    allow(&world, &policy);
    let place = ["--namespace", &world.namespace];
    let create = ["create", "configmap", "probe", "--dry-run=server"];
    let probe = || world.cluster.kubectl(&[&place[..], &create].concat());
    world.until(|| probe().is_ok()).await;
    let report = world.try_apply(immutable("2"), more).await.unwrap();
    assert_eq!(report.resources[0].state, ResourceState::Ready);
    assert_ne!(report.objects[0].uid, first.objects[0].uid);
    assert_eq!(world.live("configmap", "a")["data"]["v"], "2");
    world.end().await;
}

#[tokio::test]
async fn an_abandoned_object_is_taken_by_anybody_without_a_conflict() {
    let world = World::new().await;
    let report = world.applied(json!([map("a", json!({"v": "1"}))])).await;
    let more = json!({"recorded": report.objects, "policies": {"delete": "ABANDON"}});
    let left = world.try_apply(json!([]), more).await.unwrap();
    assert_eq!(left.resources[0].action, Some(Action::Abandoned));
    let live = world.live("configmap", "a");
    assert_eq!(
        (&live["data"]["v"], live["metadata"]["labels"].get(LABEL)),
        (&json!("1"), None)
    );
    let other = DeploymentName::parse("other").unwrap();
    let taken = world
        .try_apply(
            json!([map("a", json!({"v": "2"}))]),
            json!({"deployment": other}),
        )
        .await
        .unwrap();
    assert_eq!(taken.errors().count(), 0, "{taken:?}");
    assert_eq!(world.live("configmap", "a")["data"]["v"], "2");
    world.end().await;
}

#[tokio::test]
async fn an_acquired_object_gets_back_its_values_and_their_managers() {
    let world = World::new().await;
    world.kubectl(&[
        "create",
        "configmap",
        "a",
        "--from-literal=v=theirs",
        "--from-literal=keep=me",
    ]);
    let before = world.live("configmap", "a");
    let take = json!({"policies": {"create": "ACQUIRE", "conflict": "TAKE"}});
    let resources = json!([map("a", json!({"v": "ours", "w": "new"}))]);
    let report = world.try_apply(resources, take).await.unwrap();
    assert_eq!(report.errors().count(), 0, "{report:?}");
    assert_eq!(world.live("configmap", "a")["data"]["v"], "ours");
    let more = json!({"recorded": report.objects, "restoreAcquired": true});
    let back = world.try_apply(json!([]), more).await.unwrap();
    assert_eq!(
        back.resources[0].action,
        Some(Action::Abandoned),
        "{back:?}"
    );
    let after = world.live("configmap", "a");
    assert_eq!(after["data"], before["data"]);
    for field in ["uid", "labels", "annotations"] {
        assert_eq!(
            after["metadata"].get(field),
            before["metadata"].get(field),
            "{field}"
        );
    }
    let entries = |object: &Value| {
        let mut entries = object["metadata"]["managedFields"].clone();
        for entry in entries.as_array_mut().into_iter().flatten() {
            entry.as_object_mut().unwrap().remove("time");
        }
        entries
    };
    let managed = |name: &str| -> Value {
        let args = [
            "get",
            "configmap",
            name,
            "--show-managed-fields",
            "--output=json",
        ];
        serde_json::from_str(&world.kubectl(&args)).unwrap()
    };
    let managers = entries(&managed("a"));
    assert_eq!(managers.as_array().unwrap().len(), 1, "{managers}");
    assert_eq!(managers[0]["manager"], "kubectl-create");
    assert!(
        managers[0]["fieldsV1"]["f:data"].get("f:v").is_some(),
        "{managers}"
    );
    world.end().await;
}

/// The report of pruning everything on record.
async fn pruned(world: &World, recorded: &Report, allow: bool) -> Report {
    let more = json!({"recorded": recorded.objects, "allowDeletes": allow});
    world.try_apply(json!([]), more).await.unwrap()
}

#[tokio::test]
async fn a_namespace_with_objects_of_others_is_deleted_only_where_that_is_allowed() {
    let world = World::new().await;
    let name = format!("{}-more", world.namespace);
    let namespace = json!({"name": name, "type": "Namespace"});
    let mut own = app("own", 1, WELL);
    own["properties"]["metadata"] = json!({"namespace": name});
    let resources = json!([namespace, own]);
    let report = world.applied(resources.clone()).await;
    let place = ["--namespace", &name];
    let create = ["create", "configmap", "theirs"];
    world
        .cluster
        .kubectl(&[&place[..], &create].concat())
        .unwrap();
    let shown = world
        .diff(json!([]), json!({"recorded": report.objects}))
        .await;
    let refused = shown
        .resources
        .iter()
        .filter_map(|diff| diff.error.as_ref());
    assert_eq!(refused.count(), 1, "{shown:?}");
    let kept = pruned(&world, &report, false).await;
    let message = &error(&kept).message;
    assert!(
        message.contains("1 objects in it are not the deployment's")
            && message.contains(&format!("ConfigMap {name}/theirs"))
            && message.contains("allowDeletes"),
        "{message}"
    );
    assert_eq!(kept.objects.len(), 1, "the namespace is still on record");
    let gone = pruned(&world, &kept, true).await;
    assert_eq!(gone.errors().count(), 0, "{gone:?}");
    // What goes with its owner, and what Kubernetes keeps in each namespace, asks nobody.
    let report = world.applied(resources).await;
    let gone = pruned(&world, &report, false).await;
    assert_eq!(gone.errors().count(), 0, "{gone:?}");
    assert!(gone.objects.is_empty());
    world.end().await;
}
