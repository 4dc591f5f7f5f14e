//! CustomResourceDefinitions hold the data of others, and singletons belong to all that name them.

use common::api::deployer::ResourceState;
use serde_json::{Value, json};

use crate::world::{World, error, map};

struct Things {
    group: String,
}

impl Things {
    fn of(world: &World) -> Self {
        Self {
            group: format!("{}.example.com", world.namespace),
        }
    }

    fn definition(&self, scope: &str, versions: &[(&str, bool, &[&str])]) -> Value {
        let version = |(name, storage, fields): &(&str, bool, &[&str])| {
            let fields: serde_json::Map<String, Value> = fields
                .iter()
                .map(|field| ((*field).to_owned(), json!({"type": "string"})))
                .collect();
            let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}});
            json!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": schema}})
        };
        json!({"name": "crd", "type": "CustomResourceDefinition", "properties": {
            "metadata": {"name": format!("things.{}", self.group)},
            "spec": {"group": self.group, "scope": scope, "names": {"kind": "Thing", "plural": "things", "singular": "thing"},
                "versions": versions.iter().map(version).collect::<Vec<_>>()}}})
    }

    fn thing(&self, name: &str) -> Value {
        json!({"name": name, "type": format!("{}/v1:Thing", self.group), "properties": {"spec": {"a": "1", "b": "2"}}})
    }
}

#[tokio::test]
async fn a_definition_is_upgraded_but_not_to_the_loss_of_data() {
    let world = World::new().await;
    let things = Things::of(&world);
    let define =
        |versions: &[(&str, bool, &[&str])]| json!([things.definition("Namespaced", versions)]);
    world
        .applied(define(&[("v1", true, &["a", "b", "c"])]))
        .await;
    world.applied(define(&[("v1", true, &["a", "b"])])).await;
    world
        .applied(json!([
            things.definition("Namespaced", &[("v1", true, &["a", "b"])]),
            things.thing("x")
        ]))
        .await;
    world
        .applied(define(&[
            ("v1", true, &["a", "b", "more"]),
            ("v2", false, &["a", "b", "more"]),
        ]))
        .await;
    let refused = async |resources: Value| {
        world
            .try_apply(resources, json!({}))
            .await
            .unwrap_err()
            .message
    };
    let less = refused(define(&[("v1", true, &["a"]), ("v2", false, &["a"])])).await;
    assert!(
        less.contains("would lose fields")
            && less.contains("spec.b, spec.more")
            && less.contains("Thing"),
        "{less}"
    );
    let gone = refused(define(&[("v2", true, &["a", "b", "more"])])).await;
    assert!(
        gone.contains("objects may be stored in version v1"),
        "{gone}"
    );
    let scope = refused(json!([
        things.definition("Cluster", &[("v1", true, &["a", "b", "more"])])
    ]))
    .await;
    assert!(scope.contains("from Namespaced to Cluster"), "{scope}");
    let shown = world.diff(define(&[("v1", true, &["a"])]), json!({})).await;
    let reported = &shown.resources[0].error.as_ref().unwrap().message;
    assert!(reported.contains("would lose fields"), "{reported}");
    world
        .cluster
        .kubectl(&["delete", "crd", &format!("things.{}", things.group)])
        .unwrap();
    world.end().await;
}

#[tokio::test]
async fn a_definition_stays_as_long_as_others_have_objects_of_its_kind() {
    let world = World::new().await;
    let things = Things::of(&world);
    let definition = things.definition("Namespaced", &[("v1", true, &["a", "b"])]);
    let report = world
        .applied(json!([definition, things.thing("ours")]))
        .await;
    world.create(&json!({"apiVersion": format!("{}/v1", things.group), "kind": "Thing", "metadata": {"name": "theirs"}}));
    let removed = world.delete(&report, 60_000).await;
    let reported = &error(&removed).message;
    assert!(
        reported.contains("1 objects of its kind are not the deployment's")
            && reported.contains("/theirs"),
        "{reported}"
    );
    world.kubectl(&["delete", &format!("things.{}", things.group), "theirs"]);
    let removed = world.delete(&removed, 60_000).await;
    assert!(removed.objects.is_empty());
    assert!(
        removed
            .resources
            .iter()
            .all(|one| one.state == ResourceState::Gone)
    );
    world.end().await;
}

fn singleton(value: &str) -> Value {
    let mut one = map("one", json!({"v": value}));
    one["metadata"] = json!({"singleton": true});
    json!([one])
}

#[tokio::test]
async fn a_singleton_is_made_once_changed_by_nobody_and_goes_with_the_last_deployment() {
    let world = World::new().await;
    let other = || json!({"deployment": "other"});
    let value = || world.live("configmap", "one")["data"]["v"].clone();
    let first = world.applied(singleton("first")).await;
    let second = world.try_apply(singleton("second"), other()).await.unwrap();
    assert_eq!(
        second.resources[0].state,
        ResourceState::Ready,
        "{second:?}"
    );
    assert_eq!(value(), "first", "who comes second writes nothing");
    world.applied(singleton("changed")).await;
    assert_eq!(value(), "first", "nor does an update");
    let shown = world.diff(singleton("changed"), json!({})).await;
    assert!(shown.resources[0].changes.is_empty(), "{shown:?}");

    let left = world.delete(&first, 30_000).await;
    assert!(left.objects.is_empty(), "{left:?}");
    assert_eq!(value(), "first", "the other one still shares it");
    let again = world.applied(singleton("again")).await;
    world.try_delete_of("other", &second, 30_000).await.unwrap();
    assert_eq!(value(), "first");
    world.delete(&again, 30_000).await;
    let names = world.kubectl(&["get", "configmaps", "--output=name"]);
    assert!(!names.contains("configmap/one"), "{names}");
    world.end().await;
}

#[tokio::test]
async fn a_singleton_that_others_made_is_used_and_stays() {
    let world = World::new().await;
    let theirs = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {"v": "theirs"}});
    world.create(&theirs);
    let before = world.live("configmap", "one");
    let report = world.applied(singleton("ours")).await;
    assert!(report.objects.is_empty(), "{report:?}");
    world.delete(&report, 30_000).await;
    assert_eq!(world.live("configmap", "one"), before);
    world.end().await;
}

#[tokio::test]
async fn deployments_that_come_and_go_at_once_leave_no_singleton_and_lose_none() {
    let world = World::new().await;
    let names: Vec<String> = (0..6).map(|number| format!("d{number}")).collect();
    let turn = async |name: &String| {
        let more = json!({"deployment": name});
        let report = world.try_apply(singleton(name), more).await.unwrap();
        assert_eq!(
            report.resources[0].state,
            ResourceState::Ready,
            "{report:?}"
        );
        let live = world.live("configmap", "one");
        let mark = format!("shared-by.deployment-manager.dev/{name}");
        assert_eq!(live["metadata"]["annotations"][mark], "true", "{live}");
        world.try_delete_of(name, &report, 30_000).await.unwrap()
    };
    let removed = futures::future::join_all(names.iter().map(turn)).await;
    assert!(
        removed.iter().all(|one| one.objects.is_empty()),
        "{removed:?}"
    );
    let left = world.kubectl(&["get", "configmaps", "--output=name"]);
    assert!(!left.contains("configmap/one"), "{left}");
    world.end().await;
}
