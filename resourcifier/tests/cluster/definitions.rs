//! CustomResourceDefinitions hold the data of others.

use common::api::deployer::ResourceState;
use serde_json::{Value, json};

use crate::world::{World, error};

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
