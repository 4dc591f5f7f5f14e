//! What a write would do, and that it does just that.

use common::api::error::ErrorCode;
use serde_json::{Value, json};

use crate::world::{WELL, World, app, intents, map, said};

fn bases(report: &common::api::deployer::DiffReport) -> Value {
    let bases = report.resources.iter().map(|diff| json!(diff.basis));
    bases.collect()
}

#[tokio::test]
async fn each_resource_is_shown_with_its_intent_and_the_fields_that_change() {
    let world = World::new().await;
    let first = world
        .applied(json!([
            app("app", 1, WELL), map("same", json!({"a": "1"})), map("old", json!({})),
            {"name": "kept", "type": "ConfigMap", "metadata": {"deletePolicy": "ABANDON"}},
        ]))
        .await;
    world.kubectl(&["create", "configmap", "theirs", "--from-literal=x=1"]);
    let diff = world
        .diff(
            json!([
                app("app", 2, WELL),
                map("same", json!({"a": "1"})),
                map("new", json!({"b": "2"})),
                map("theirs", json!({"x": "1"}))
            ]),
            json!({"recorded": first.objects}),
        )
        .await;
    let mut reported: Vec<String> = intents(&diff)
        .iter()
        .map(|(name, intent)| format!("{name} {intent}"))
        .collect();
    // What is pruned goes backwards through what was applied at once.
    reported[4..].sort();
    assert_eq!(
        reported,
        [
            "app UPDATE",
            "same NONE",
            "new CREATE",
            "theirs ACQUIRE",
            "kept ABANDON",
            "old DELETE"
        ]
    );
    assert_eq!(said(&diff.resources[0].changes), ["spec.replicas: 1 → 2"]);
    assert!(said(&diff.resources[2].changes).contains(&r#"data.b: – → "2""#.to_owned()));
    assert!(diff.resources.iter().all(|diff| diff.error.is_none()));
    world.end().await;
}

#[tokio::test]
async fn a_secret_shows_that_it_changes_and_never_what() {
    let world = World::new().await;
    let secret = |value: &str| json!([{"name": "s", "type": "Secret", "properties": {"stringData": {"password": value}}}]);
    let created = world.diff(secret("hunter2"), json!({})).await;
    world.applied(secret("hunter2")).await;
    let same = world.diff(secret("hunter2"), json!({})).await;
    assert_eq!(intents(&same)[0].1, "NONE");
    let other = world.diff(secret("hunter3"), json!({})).await;
    assert_eq!(
        said(&other.resources[0].changes),
        [r#"data.password: "(redacted)" → "(redacted)""#]
    );
    let text = format!("{created:?}{other:?}");
    assert!(
        !text.contains("hunter") && !text.contains("aHVudGVy"),
        "{text}"
    );
    world.end().await;
}

#[tokio::test]
async fn values_that_are_not_known_yet_are_named_and_the_rest_is_compared() {
    let world = World::new().await;
    let service = |port: u64| json!({"name": "svc", "type": "Service", "properties": {"spec": {"ports": [{"port": port}]}}});
    let reader = |more: &str| {
        map(
            "reader",
            json!({"ip": "$(ref.svc.spec.clusterIP)", "port": "p$(ref.svc.spec.ports[0].port)", "more": more}),
        )
    };
    let before = world
        .diff(json!([service(80), reader("1")]), json!({}))
        .await;
    assert_eq!(before.resources[1].unknown, ["$(ref.svc.spec.clusterIP)"]);
    assert!(said(&before.resources[1].changes).contains(&r#"data.port: – → "p80""#.to_owned()));
    world.applied(json!([service(80), reader("1")])).await;
    let after = world
        .diff(json!([service(81), reader("2")]), json!({}))
        .await;
    assert_eq!(after.resources[1].unknown, Vec::<String>::new());
    assert_eq!(
        said(&after.resources[1].changes),
        [r#"data.more: "1" → "2""#, r#"data.port: "p80" → "p81""#]
    );
    world.end().await;
}

#[tokio::test]
async fn what_cannot_be_tried_yet_is_shown_from_the_configuration() {
    let world = World::new().await;
    let other = format!("{}-more", world.namespace);
    let inside = json!({"name": "inside", "type": "ConfigMap", "properties": {"metadata": {"namespace": other}, "data": {"a": "1"}}});
    let diff = world
        .diff(
            json!([{"name": "ns", "type": "Namespace", "properties": {"metadata": {"name": other}}}, inside]),
            json!({}),
        )
        .await;
    assert_eq!(intents(&diff)[1].1, "CREATE");
    assert_eq!(diff.resources[1].error, None);
    assert!(said(&diff.resources[1].changes).contains(&r#"data.a: – → "1""#.to_owned()));
    world.end().await;
}

#[tokio::test]
async fn what_a_write_would_meet_is_told_in_the_preview() {
    let world = World::new().await;
    let service = |port: Value| json!([{"name": "svc", "type": "Service", "properties": {"spec": {"ports": [{"port": port}]}}}]);
    let diff = world.diff(service(json!(70_000)), json!({})).await;
    let error = diff.resources[0].error.as_ref().unwrap();
    assert!(
        error.message.starts_with("resource svc (Service") && error.message.contains("70000"),
        "{error}"
    );
    world.applied(json!([app("app", 1, WELL)])).await;
    let mut changed = app("app", 1, WELL);
    changed["properties"]["spec"]["selector"] = json!({"matchLabels": {"app": "app", "new": "x"}});
    changed["properties"]["spec"]["template"]["metadata"]["labels"] =
        json!({"app": "app", "new": "x"});
    let refused = world.diff(json!([changed]), json!({})).await;
    let error = refused.resources[0].error.as_ref().unwrap();
    assert!(error.message.contains("immutable"), "{error}");
    assert!(error.message.contains("REPLACE"), "{error}");
    let replaced = world
        .diff(json!([changed]), json!({"policies": {"update": "REPLACE"}}))
        .await;
    assert_eq!(intents(&replaced)[0].1, "REPLACE");
    assert!(
        said(&replaced.resources[0].changes)
            .contains(&r#"spec.selector.matchLabels.new: – → "x""#.to_owned())
    );
    world.end().await;
}

#[tokio::test]
async fn a_preview_is_committed_only_as_it_was_shown() {
    let world = World::new().await;
    let first = world
        .applied(json!([app("app", 1, WELL), map("a", json!({"k": "1"}))]))
        .await;
    let wanted = || {
        json!([
            app("app", 2, WELL),
            map("a", json!({"k": "2"})),
            map("new", json!({}))
        ])
    };
    let shown = world
        .diff(wanted(), json!({"recorded": first.objects}))
        .await;
    let expected = json!({"recorded": first.objects, "expected": bases(&shown)});
    // What others write beside us is no reason.
    world.kubectl(&["annotate", "deployment", "app", "note=theirs"]);
    world.kubectl(&["scale", "deployment", "app", "--replicas=5"]);
    let error = world
        .try_apply(wanted(), expected.clone())
        .await
        .unwrap_err();
    assert_eq!(error.code, ErrorCode::PreconditionFailed);
    assert!(
        error.message.contains("Deployment")
            && error
                .message
                .contains("spec.replicas is of \"kubectl\" now"),
        "{error}"
    );
    assert_eq!(
        world.live("configmap", "a")["data"],
        json!({"k": "1"}),
        "something was touched"
    );
    let shown = world
        .diff(
            wanted(),
            json!({"recorded": first.objects, "policies": {"conflict": "TAKE"}}),
        )
        .await;
    let again = json!({"recorded": first.objects, "expected": bases(&shown), "policies": {"conflict": "TAKE"}});
    world.kubectl(&["create", "configmap", "new"]);
    let error = world.try_apply(wanted(), again.clone()).await.unwrap_err();
    assert!(error.message.contains("it exists now"), "{error}");
    world.kubectl(&["delete", "configmap", "new"]);
    let report = world.try_apply(wanted(), again).await.unwrap();
    assert_eq!(report.errors().count(), 0);
    world.end().await;
}
