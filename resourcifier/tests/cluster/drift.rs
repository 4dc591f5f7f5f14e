//! How recorded objects are, beside what is asked for.

use common::api::deployer::ObjectState;
use serde_json::json;

use crate::world::{WELL, World, app, map, said};

#[tokio::test]
async fn only_fields_that_are_ours_drift() {
    let world = World::new().await;
    let service = json!({"name": "svc", "type": "Service", "properties": {"spec": {"ports": [{"port": 80}]}}});
    let reader = map(
        "reader",
        json!({"ip": "$(ref.svc.spec.clusterIP)", "a": "1"}),
    );
    let resources = json!([app("app", 1, WELL), service, reader, map("gone", json!({}))]);
    let report = world.applied(resources.clone()).await;
    let status = world.status(&report, resources.clone(), json!({})).await;
    assert!(
        status
            .iter()
            .all(|one| one.drift.is_empty() && one.state == ObjectState::Ready),
        "{status:?}"
    );
    world.kubectl(&["annotate", "deployment", "app", "note=theirs"]);
    world.kubectl(&["scale", "deployment", "app", "--replicas=2"]);
    world.kubectl(&[
        "patch",
        "configmap",
        "reader",
        "--patch",
        r#"{"data": {"a": "2", "b": "3"}}"#,
    ]);
    world.kubectl(&["delete", "configmap", "gone"]);
    let status = world.status(&report, resources.clone(), json!({})).await;
    let drift = |name: &str| {
        let one = status
            .iter()
            .find(|one| one.applied.object.name == name)
            .unwrap();
        (one.state, said(&one.drift))
    };
    assert_eq!(drift("app").1, ["spec.replicas: 2 → 1"]);
    assert_eq!(drift("reader").1, [r#"data.a: "2" → "1""#]);
    assert_eq!(drift("svc").1, Vec::<String>::new());
    assert_eq!(drift("gone"), (ObjectState::Missing, Vec::new()));
    let yielding = world
        .status(&report, resources, json!({"conflict": "YIELD"}))
        .await;
    assert!(
        yielding.iter().all(|one| one.drift.is_empty()),
        "{yielding:?}"
    );
    world.end().await;
}

#[tokio::test]
async fn a_field_dropped_by_hand_from_a_secret_drifts_without_its_value() {
    let world = World::new().await;
    let resources = json!([{"name": "s", "type": "Secret", "properties": {"stringData": {"password": "hunter2"}}}]);
    let report = world.applied(resources.clone()).await;
    world.kubectl(&[
        "patch",
        "secret",
        "s",
        "--type=json",
        "--patch",
        r#"[{"op": "remove", "path": "/data/password"}]"#,
    ]);
    let status = world.status(&report, resources, json!({})).await;
    assert_eq!(
        said(&status[0].drift),
        [r#"data.password: – → "(redacted)""#]
    );
    world.end().await;
}

#[tokio::test]
async fn an_admission_that_changes_each_object_is_no_drift() {
    let world = World::new().await;
    let name = &world.namespace;
    let policy = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy", "metadata": {"name": name},
        "spec": {
            "matchConstraints": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}},
                "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"]}],
            },
            "reinvocationPolicy": "Never",
            "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {
                "expression": "Object{data: {'a': 'forced', 'added': 'yes'}}"}}],
        },
    });
    let binding = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": name}, "spec": {"policyName": name},
    });
    world.create(&policy);
    world.create(&binding);
    world
        .until(|| {
            let tried = world.kubectl(&[
                "create",
                "configmap",
                "try",
                "--dry-run=server",
                "--output=yaml",
            ]);
            tried.contains("forced")
        })
        .await;
    let resources = json!([map("m", json!({"a": "1", "b": "2"}))]);
    let report = world.applied(resources.clone()).await;
    assert_eq!(
        world.live("configmap", "m")["data"],
        json!({"a": "forced", "added": "yes", "b": "2"})
    );
    let status = world.status(&report, resources.clone(), json!({})).await;
    assert_eq!(said(&status[0].drift), Vec::<String>::new());
    let diff = world.diff(resources, json!({})).await;
    assert_eq!(said(&diff.resources[0].changes), Vec::<String>::new());
    world
        .cluster
        .kubectl(&[
            "delete",
            "mutatingadmissionpolicybinding,mutatingadmissionpolicy",
            name,
        ])
        .unwrap();
    world.end().await;
}

#[tokio::test]
async fn a_thousand_objects_are_looked_at_in_one_request() {
    let world = World::new().await;
    let resources: serde_json::Value = (0..1000)
        .map(|n| map(&format!("m{n}"), json!({"n": n.to_string()})))
        .collect();
    let report = world.applied(resources.clone()).await;
    world.kubectl(&[
        "patch",
        "configmap",
        "m500",
        "--patch",
        r#"{"data": {"n": "x"}}"#,
    ]);
    let status = world.status(&report, resources, json!({})).await;
    let drifted: Vec<&str> = status
        .iter()
        .filter(|one| !one.drift.is_empty())
        .map(|one| one.applied.object.name.as_str())
        .collect();
    assert_eq!(drifted, ["m500"]);
    world.end().await;
}
