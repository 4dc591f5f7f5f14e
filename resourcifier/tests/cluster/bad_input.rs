//! What goes wrong in real clusters, each with its sentence.

use std::net::TcpListener;
use std::path::Path;

use common::api::deployer::{ObjectState, ResourceState};
use common::api::error::ErrorCode;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::world::{WELL, World, app, error, map};

/// While an API group does not answer, no namespace goes: the two are not tested at once.
static WHOLE_CLUSTER: Mutex<()> = Mutex::const_new(());

#[tokio::test]
async fn an_object_that_is_too_large_is_named_with_the_limit() {
    let world = World::new().await;
    let resources = json!([
        map("large", json!({"a": "x".repeat(1_100_000)})),
        map("huge", json!({"a": "x".repeat(4_000_000)})),
        map("small", json!({}))
    ]);
    let report = world.apply(resources).await;
    let messages: Vec<&str> = report
        .errors()
        .map(|error| error.message.as_str())
        .collect();
    assert_eq!(messages.len(), 2);
    assert!(
        messages[0].starts_with("resource large (ConfigMap")
            && messages[0].contains("1048576 bytes"),
        "{}",
        messages[0]
    );
    assert!(
        messages[1].starts_with("resource huge (ConfigMap") && messages[1].contains("too large"),
        "{}",
        messages[1]
    );
    assert_eq!(report.resources[2].state, ResourceState::Ready);
    world.end().await;
}

#[tokio::test]
async fn five_thousand_resources_are_applied_and_removed() {
    let world = World::new().await;
    let resources: Value = (0..5_000)
        .map(|n| map(&format!("m{n}"), json!({"n": n.to_string()})))
        .collect();
    let report = world
        .try_apply(resources, json!({"timeoutMs": 300_000}))
        .await
        .unwrap();
    assert_eq!(report.errors().next(), None);
    assert_eq!(report.objects.len(), 5_000);
    let removed = world.delete(&report, 300_000).await;
    assert!(removed.objects.is_empty());
    world.end().await;
}

#[tokio::test]
async fn an_api_group_that_is_gone_stops_only_what_is_of_it() {
    let _alone = WHOLE_CLUSTER.lock().await;
    let world = World::new().await;
    let group = format!("{}.example.com", world.namespace);
    let service = json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": format!("v1.{group}")},
        "spec": {"group": group, "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 100,
            "insecureSkipTLSVerify": true, "service": {"namespace": world.namespace, "name": "gone"}},
    });
    world.create(&service);
    world.applied(json!([map("fine", json!({}))])).await;
    let thing =
        json!([{"name": "t", "type": format!("{group}/v1:Thing")}, map("other", json!({}))]);
    let error = world.try_apply(thing, json!({})).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::ClusterUnavailable);
    let sentence = format!("which kinds {group}/v1 has is unknown");
    assert!(error.message.starts_with(&sentence), "{error}");
    world
        .cluster
        .kubectl(&["delete", "apiservice", &format!("v1.{group}")])
        .unwrap();
    world.end().await;
}

#[tokio::test]
async fn objects_of_a_kind_that_is_gone_are_gone() {
    let world = World::new().await;
    let group = format!("{}.example.com", world.namespace);
    let name = format!("things.{group}");
    let any = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name},
        "spec": {"group": group, "scope": "Namespaced", "names": {"kind": "Thing", "plural": "things"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": any}}]}});
    world.create(&definition);
    world.kubectl(&[
        "wait",
        "--for=condition=Established",
        &format!("crd/{name}"),
    ]);
    let report = world
        .applied(json!([{"name": "t", "type": format!("{group}/v1:Thing")}]))
        .await;
    world.cluster.kubectl(&["delete", "crd", &name]).unwrap();
    let status = world.status(&report, json!([]), json!({})).await;
    assert_eq!(status[0].state, ObjectState::Missing);
    // One that has not seen the kind before.
    let fresh = world.with_kubeconfig(world.cluster.kubeconfig().to_owned());
    let removed = fresh.delete(&report, 20_000).await;
    assert_eq!(removed.resources[0].state, ResourceState::Gone);
    fresh.end_only_service().await;
    world.end().await;
}

#[tokio::test]
async fn an_admission_that_refuses_is_named() {
    let world = World::new().await;
    let name = &world.namespace;
    let policy = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name},
        "spec": {
            "matchConstraints": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}},
                "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}],
            },
            "validations": [{"expression": "object.metadata.name != 'bad'", "message": "no bad maps here"}],
        },
    });
    world.create(&policy);
    world.create(&json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name}, "spec": {"policyName": name, "validationActions": ["Deny"]},
    }));
    world
        .until(|| {
            let place = [
                "--namespace",
                name,
                "create",
                "configmap",
                "bad",
                "--dry-run=server",
            ];
            world.cluster.kubectl(&place).is_err()
        })
        .await;
    let shown = world.diff(json!([map("bad", json!({}))]), json!({})).await;
    let reported = &shown.resources[0].error.as_ref().unwrap().message;
    assert!(reported.contains("no bad maps here"), "{reported}");
    let report = world
        .apply(json!([map("bad", json!({})), map("good", json!({}))]))
        .await;
    let message = &error(&report).message;
    assert!(
        message.starts_with("resource bad (ConfigMap")
            && message.contains("no bad maps here")
            && message.contains(name.as_str()),
        "{message}"
    );
    assert_eq!(report.resources[1].state, ResourceState::Ready);
    world
        .cluster
        .kubectl(&[
            "delete",
            "validatingadmissionpolicybinding,validatingadmissionpolicy",
            name,
        ])
        .unwrap();
    world.end().await;
}

#[tokio::test]
async fn a_webhook_that_hangs_is_named_when_time_is_over() {
    let world = World::new().await;
    let name = &world.namespace;
    // It takes connections and never answers.
    let black_hole = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", black_hole.local_addr().unwrap());
    let webhook = json!({
        "name": "hangs.example.com", "clientConfig": {"url": url}, "timeoutSeconds": 1, "sideEffects": "None",
        "admissionReviewVersions": ["v1"], "failurePolicy": "Fail",
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}],
    });
    world.create(&json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name}, "webhooks": [webhook],
    }));
    world
        .until(|| {
            let place = [
                "--namespace",
                name,
                "create",
                "configmap",
                "try",
                "--dry-run=server",
            ];
            world.cluster.kubectl(&place).is_err()
        })
        .await;
    let report = world
        .try_apply(
            json!([map("m", json!({})), {"name": "s", "type": "Secret"}]),
            json!({"timeoutMs": 5_000}),
        )
        .await
        .unwrap();
    let message = &error(&report).message;
    assert!(
        message.starts_with("resource m (ConfigMap") && message.contains("hangs.example.com"),
        "{message}"
    );
    assert_eq!(report.resources[1].state, ResourceState::Ready);
    world
        .cluster
        .kubectl(&["delete", "validatingwebhookconfiguration", name])
        .unwrap();
    world.end().await;
}

#[tokio::test]
async fn a_finalizer_that_holds_is_named() {
    let world = World::new().await;
    let held = json!({"name": "held", "type": "ConfigMap", "properties": {"metadata": {"finalizers": ["example.com/hold"]}}});
    let report = world.applied(json!([held, map("free", json!({}))])).await;
    let removed = world.delete(&report, 2_000).await;
    let error = error(&removed);
    assert_eq!(error.code, ErrorCode::Timeout);
    assert!(
        error
            .message
            .contains("finalizers hold it: example.com/hold"),
        "{error}"
    );
    let left: Vec<&str> = removed
        .objects
        .iter()
        .map(|one| one.object.name.as_str())
        .collect();
    assert_eq!(left, ["held"]);
    let status = world.status(&removed, json!([]), json!({})).await;
    assert!(
        status[0]
            .reason
            .as_ref()
            .unwrap()
            .contains("example.com/hold"),
        "{status:?}"
    );
    world.kubectl(&[
        "patch",
        "configmap",
        "held",
        "--type=merge",
        "--patch",
        r#"{"metadata": {"finalizers": null}}"#,
    ]);
    world.end().await;
}

#[tokio::test]
async fn an_object_deleted_by_hand_in_the_middle_is_told() {
    let world = World::new().await;
    let resources = json!([app("app", 1, "simulated.invalid/unready")]);
    let report = tokio::join!(world.apply(resources), async {
        let place = [
            "--namespace",
            world.namespace.as_str(),
            "get",
            "deployment",
            "app",
        ];
        world.until(|| world.cluster.kubectl(&place).is_ok()).await;
        world.kubectl(&["delete", "deployment", "app"]);
    })
    .0;
    let message = &error(&report).message;
    assert!(
        message.contains("it was deleted by somebody else while it was waited for"),
        "{message}"
    );
    world.end().await;
}

#[tokio::test]
async fn a_missing_permission_is_told_for_its_kind_alone() {
    let world = World::new().await;
    world.kubectl(&["create", "serviceaccount", "limited"]);
    world.kubectl(&[
        "create",
        "role",
        "limited",
        "--verb=*",
        "--resource=configmaps",
    ]);
    let account = format!("--serviceaccount={}:limited", world.namespace);
    world.kubectl(&[
        "create",
        "rolebinding",
        "limited",
        "--role=limited",
        &account,
    ]);
    let folder = tempfile::tempdir().unwrap();
    let limited = world.with_kubeconfig(kubeconfig(&world, folder.path()));
    let shown = limited
        .diff(json!([{"name": "s", "type": "Secret"}]), json!({}))
        .await;
    let reported = &shown.resources[0].error.as_ref().unwrap().message;
    assert!(
        reported.contains("may not get secrets in namespace"),
        "{reported}"
    );
    let resources = json!([map("m", json!({})), {"name": "s", "type": "Secret"}]);
    let error = limited.try_apply(resources, json!({})).await.unwrap_err();
    assert!(
        error.message.contains("get secrets in namespace"),
        "{error}"
    );
    let report = limited.applied(json!([map("m", json!({}))])).await;
    assert_eq!(report.objects.len(), 1);
    limited.end_only_service().await;
    world.end().await;
}

/// The kubeconfig of the service account `limited`.
pub fn kubeconfig(world: &World, folder: &Path) -> std::path::PathBuf {
    let token = world.kubectl(&["create", "token", "limited"]);
    let view = world
        .cluster
        .kubectl(&["config", "view", "--raw", "--minify", "--output=json"])
        .unwrap();
    let mut config: Value = serde_json::from_str(&view).unwrap();
    config["users"][0]["user"] = json!({"token": token.trim()});
    let file = folder.join("kubeconfig");
    std::fs::write(&file, config.to_string()).unwrap();
    file
}

#[tokio::test]
async fn several_namespaces_and_kinds_of_the_whole_cluster_live_in_one_deployment() {
    let _alone = WHOLE_CLUSTER.lock().await;
    let world = World::new().await;
    let other = format!("{}-b", world.namespace);
    let elsewhere =
        json!({"name": "m", "type": "ConfigMap", "properties": {"metadata": {"namespace": other}}});
    let role = json!({"name": "role", "type": "ClusterRole", "properties": {"metadata": {"name": other}, "rules": []}});
    let resources = json!([elsewhere, map("m", json!({})), role, {"name": "ns", "type": "Namespace", "properties": {"metadata": {"name": other}}}, app("app", 1, WELL)]);
    let report = world.applied(resources).await;
    assert_eq!(report.objects.len(), 5);
    let live = world.live("deployment", "app");
    assert_eq!(
        live["spec"]["selector"],
        json!({"matchLabels": {"app": "app"}})
    );
    assert_eq!(
        live["spec"]["template"]["metadata"]["labels"],
        json!({"app": "app"})
    );
    let removed = world.delete(&report, 60_000).await;
    assert!(removed.objects.is_empty(), "{removed:?}");
    world.end().await;
}
