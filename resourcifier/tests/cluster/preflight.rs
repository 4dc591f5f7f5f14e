//! What is found before the first write: typing errors, missing namespaces, references that can never have a value.

use common::api::deployer::ResourceState;
use common::api::error::ErrorCode;
use serde_json::{Value, json};

use crate::world::World;

fn settings(name: &str) -> Value {
    json!({"name": name, "type": "ConfigMap", "properties": {"data": {"a": "1"}}})
}

fn bad(name: &str) -> Value {
    json!({"name": name, "type": "HorizontalPodAutoscaler", "properties": {"apiVersion": "autoscaling/v2", "spec": {
        "maxReplicaz": 3, "scaleTargetRef": {"kind": "Deployment", "name": "web"}}}})
}

#[tokio::test]
async fn a_typing_error_in_some_objects_refuses_all_and_is_told_once() {
    let world = World::new().await;
    let resources = json!([
        settings("one"),
        bad("first"),
        bad("second"),
        settings("two"),
        bad("third")
    ]);
    let error = world
        .try_apply(resources.clone(), json!({"preflight": true}))
        .await
        .unwrap_err();
    assert_eq!(error.code, ErrorCode::ResourcesFailed);
    assert!(error.message.contains("3 of 5 objects"), "{error:?}");
    assert_eq!(error.causes.len(), 1, "{error:?}");
    let cause = &error.causes[0];
    assert!(
        cause.message.contains("the same for 2 more: second, third"),
        "{cause:?}"
    );
    let location = cause.location.as_ref().unwrap();
    assert_eq!(location.resource.as_deref(), Some("first"));
    assert_eq!(location.path.as_deref(), Some("spec.maxReplicaz"));
    let found = world.kubectl(&[
        "get",
        "configmap",
        "one",
        "--ignore-not-found",
        "-o",
        "name",
    ]);
    assert_eq!(found, "", "something was written");
    // Without the dry run, what is right is applied.
    let report = world.try_apply(resources, json!({})).await.unwrap();
    let ready = report.resources.iter();
    let ready = ready.filter(|resource| resource.state == ResourceState::Ready);
    assert_eq!(ready.count(), 2);
    world.end().await;
}

#[tokio::test]
async fn what_the_plan_itself_makes_is_no_obstacle() {
    let world = World::new().await;
    let namespace = format!("{}-made", world.namespace);
    let group = format!("{}.example.com", world.namespace);
    let definition = json!({"name": "definition", "type": "CustomResourceDefinition", "properties": {
        "metadata": {"name": format!("things.{group}")},
        "spec": {"group": group, "scope": "Namespaced", "names": {"kind": "Thing", "plural": "things", "singular": "thing"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}});
    let resources = json!([
        {"name": "place", "type": "Namespace", "properties": {"metadata": {"name": namespace}}},
        {"name": "inside", "type": "ConfigMap", "properties": {"metadata": {"namespace": namespace}}},
        definition,
        {"name": "custom", "type": "Thing", "properties": {"apiVersion": format!("{group}/v1"), "kind": "Thing"}},
        {"name": "reader", "type": "ConfigMap", "properties": {"data": {"name": "$(ref.inside.metadata.name)"}}},
    ]);
    let report = world
        .try_apply(resources, json!({"preflight": true}))
        .await
        .unwrap();
    let errors: Vec<String> = report.errors().map(ToString::to_string).collect();
    assert_eq!(errors, Vec::<String>::new());
    world.delete(&report, 60_000).await;
    world.end().await;
}

#[tokio::test]
async fn a_missing_namespace_is_found_first_and_created_if_it_is_wanted() {
    let world = World::new().await;
    let namespace = format!("{}-missing", world.namespace);
    let there = json!({"namespace": namespace, "preflight": true});
    let resources = json!([settings("one"), settings("two")]);
    let error = world.try_apply(resources.clone(), there).await.unwrap_err();
    assert_eq!(error.causes.len(), 1, "{error:?}");
    let cause = &error.causes[0].message;
    assert!(
        cause.contains("createNamespace") && cause.contains(&namespace),
        "{cause}"
    );
    let wanted = json!({"namespace": namespace, "preflight": true, "createNamespace": true});
    for _ in 0..2 {
        let report = world
            .try_apply(resources.clone(), wanted.clone())
            .await
            .unwrap();
        assert_eq!(report.errors().count(), 0, "{report:?}");
        assert_eq!(
            report.objects.len(),
            2,
            "the namespace is none of its objects"
        );
    }
    world
        .cluster
        .kubectl(&["delete", "namespace", &namespace, "--wait=false"])
        .unwrap();
    world.end().await;
}

#[tokio::test]
async fn a_reference_that_can_never_have_a_value_fails_at_once() {
    let world = World::new().await;
    let reader = |path: &str| json!([settings("a"), {"name": "b", "type": "ConfigMap", "properties": {"data": {"x": format!("$(ref.a.{path})")}}}]);
    for (path, meant) in [
        ("selfLink", "did you mean metadata.name?"),
        ("metadata.nam", "did you mean metadata.name?"),
        ("spec.replicas", "it has "),
    ] {
        let report = world.apply(reader(path)).await;
        let errors: Vec<String> = report.errors().map(ToString::to_string).collect();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].contains("can never have a value"), "{errors:?}");
        assert!(errors[0].contains(meant), "{errors:?}");
    }
    world.end().await;
}
