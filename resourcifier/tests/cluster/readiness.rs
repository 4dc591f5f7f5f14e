//! What an operation waits for, what it does not wait for, and how it reports a failure.

use common::api::deployer::{ObjectState, ResourceState};
use common::api::error::ErrorCode;
use serde_json::{Value, json};

use crate::world::{WELL, World, app, error, map};

const SHORT: &str = "timeoutMs";

#[tokio::test]
async fn an_image_that_cannot_be_had_is_told_at_once() {
    let world = World::new().await;
    let report = world.applied(json!([app("app", 1, WELL)])).await;
    let broken = world
        .apply(json!([
            app("app", 1, "simulated.invalid/no-image"),
            map("other", json!({}))
        ]))
        .await;
    let error = error(&broken);
    assert_eq!(error.code, ErrorCode::ResourcesFailed);
    assert!(
        error
            .message
            .contains("container app is in ImagePullBackOff"),
        "{error}"
    );
    assert_eq!(broken.resources[1].state, ResourceState::Ready);
    let status = world.status(&report, json!([]), json!({})).await;
    assert_eq!(status[0].state, ObjectState::Failed);
    // The pods of the broken template are no reason against the next one.
    world.applied(json!([app("app", 1, WELL)])).await;
    world.end().await;
}

#[tokio::test]
async fn a_container_that_ends_again_and_again_is_told_at_once() {
    let world = World::new().await;
    let mut set = app("set", 1, "simulated.invalid/crash");
    set["type"] = json!("StatefulSet");
    set["properties"]["spec"]["serviceName"] = json!("none");
    let report = world.apply(json!([set])).await;
    let error = error(&report);
    assert!(
        error
            .message
            .contains("pod set-0: container app is in CrashLoopBackOff; it ended with exit code 1"),
        "{error}"
    );
    let causes: Vec<&str> = error
        .causes
        .iter()
        .map(|cause| cause.message.as_str())
        .collect();
    assert!(
        causes
            .iter()
            .any(|cause| cause.contains("container app of pod set-0")),
        "{causes:?}"
    );
    world.end().await;
}

#[tokio::test]
async fn a_job_that_failed_and_pods_over_quota_are_told_at_once() {
    let world = World::new().await;
    let pod = json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "simulated.invalid/crash"}]}});
    let job = json!({"name": "job", "type": "Job", "properties": {"spec": {"backoffLimit": 0, "template": pod}}});
    let report = world.apply(json!([job])).await;
    assert!(
        error(&report).message.contains("backoff limit"),
        "{}",
        error(&report)
    );
    world.kubectl(&["create", "quota", "none", "--hard=pods=0"]);
    world
        .until(|| world.live("quota", "none")["status"]["hard"]["pods"] == "0")
        .await;
    let mut set = app("set", 1, WELL);
    set["type"] = json!("StatefulSet");
    let report = world.apply(json!([app("app", 1, WELL), set])).await;
    let messages: Vec<String> = report.errors().map(|error| error.message.clone()).collect();
    assert_eq!(messages.len(), 2);
    assert!(
        messages
            .iter()
            .all(|message| message.contains("its pods are refused")
                && message.contains("exceeded quota")),
        "{messages:?}"
    );
    world.end().await;
}

#[tokio::test]
async fn when_time_is_over_the_cause_is_told() {
    let world = World::new().await;
    let mut lost = app("lost", 1, WELL);
    lost["properties"]["spec"]["template"]["spec"]["nodeSelector"] = json!({"no": "such"});
    let resources = json!([app("app", 1, "simulated.invalid/unready"), lost]);
    let report = world
        .try_apply(resources, json!({SHORT: 4_000}))
        .await
        .unwrap();
    let errors: Vec<_> = report.errors().collect();
    assert!(errors.iter().all(|error| error.code == ErrorCode::Timeout));
    assert!(
        errors[0]
            .message
            .contains("is not ready after 4 s: 0 of 1 replicas are available"),
        "{}",
        errors[0]
    );
    assert!(
        errors[0]
            .message
            .contains("container app runs, but is not ready"),
        "{}",
        errors[0]
    );
    let unscheduled = format!("{:?}", errors[1]);
    assert!(
        unscheduled.contains("node affinity") && unscheduled.contains("FailedScheduling"),
        "{unscheduled}"
    );
    world.end().await;
}

#[tokio::test]
async fn a_claim_that_waits_for_its_first_pod_and_an_ingress_that_nobody_serves_are_not_waited_for()
{
    let world = World::new().await;
    let class = json!({"name": "late", "type": "StorageClass", "properties": {"metadata": {"name": world.namespace}, "provisioner": "none.example/none", "volumeBindingMode": "WaitForFirstConsumer"}});
    let claim = json!({"name": "data", "type": "PersistentVolumeClaim", "properties": {"spec": {
        "storageClassName": world.namespace, "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}});
    let ingress = json!({"name": "in", "type": "Ingress", "properties": {"spec": {"ingressClassName": "gone", "defaultBackend": {"service": {"name": "x", "port": {"number": 80}}}}}});
    let report = world.applied(json!([class, claim, ingress])).await;
    let status = world.status(&report, json!([]), json!({})).await;
    assert!(
        status.iter().all(|one| one.state == ObjectState::Ready),
        "{status:?}"
    );
    world.delete(&report, 30_000).await;
    world.end().await;
}

fn thing(status: Value) -> String {
    json!({"status": status}).to_string()
}

#[tokio::test]
async fn a_kind_of_ones_own_is_ready_by_the_condition_on_it() {
    let world = World::new().await;
    let group = format!("{}.example.com", world.namespace);
    let any = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({"name": "crd", "type": "CustomResourceDefinition", "properties": {
        "metadata": {"name": format!("things.{group}")},
        "spec": {"group": group, "scope": "Namespaced", "names": {"kind": "Thing", "plural": "things", "singular": "thing"},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": any}}]}}});
    let own = |name: &str| {
        json!({"name": name, "type": format!("{group}/v1:Thing"), "properties": {"metadata": {"annotations": {
        "deployment-manager.dev/ready-when": "{.status.phase}=Running", "deployment-manager.dev/fail-when": "{.status.phase}=Broken"}}}})
    };
    let resources = json!([definition, own("good"), own("bad"), own("late")]);
    let report = tokio::join!(
        async {
            world
                .try_apply(resources.clone(), json!({SHORT: 8_000}))
                .await
                .unwrap()
        },
        async {
            let patch = |name: &str, phase: &str| {
                let patch = thing(json!({"phase": phase}));
                let args = [
                    "--namespace",
                    &world.namespace,
                    "patch",
                    &format!("things.{group}"),
                    name,
                    "--subresource=status",
                    "--type=merge",
                    "--patch",
                    &patch,
                ];
                world.cluster.kubectl(&args).is_ok()
            };
            world
                .until(|| patch("good", "Running") && patch("bad", "Broken"))
                .await;
        }
    )
    .0;
    use ResourceState::{Failed, Ready};
    let states: Vec<ResourceState> = report.resources.iter().map(|one| one.state).collect();
    assert_eq!(states, [Ready, Ready, Failed, Failed]);
    let messages: Vec<String> = report.errors().map(|error| error.message.clone()).collect();
    assert!(
        messages[0].ends_with("its condition of failure holds: {.status.phase}=Broken"),
        "{messages:?}"
    );
    assert!(
        messages[1].contains("{.status.phase}=Running does not hold: there is no such value yet"),
        "{messages:?}"
    );
    world.delete(&report, 30_000).await;
    world.end().await;
}

/// The definitions of OpenShift's builds. `v1` of the group has no schema here.
fn build_definitions() -> [Value; 2] {
    let any = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    [("BuildConfig", "buildconfigs"), ("Build", "builds")].map(|(kind, plural)| {
        json!({"name": plural, "type": "CustomResourceDefinition", "properties": {
            "metadata": {"name": format!("{plural}.build.openshift.io")},
            "spec": {"group": "build.openshift.io", "scope": "Namespaced",
                "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase()},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": any}}]}}})
    })
}

#[tokio::test]
async fn a_build_config_that_a_template_waits_for_is_ready_with_its_latest_build() {
    let world = World::new().await;
    let definitions = world.applied(json!(build_definitions())).await;
    let config = |name: &str, wait: &str| {
        let annotations = json!({"template.alpha.openshift.io/wait-for-ready": wait});
        json!({"name": name, "type": "build.openshift.io/v1:BuildConfig", "properties": {"metadata": {"annotations": annotations}}})
    };
    let build = |config: &str, number: &str, phase: &str| {
        json!({"name": format!("{config}-{number}"), "type": "build.openshift.io/v1:Build", "properties": {
            "metadata": {"labels": {"openshift.io/build-config.name": config}, "annotations": {
                "openshift.io/build.number": number, "deployment-manager.dev/ready-when": "{.kind}=Build"}},
            "status": {"phase": phase, "message": "no source"}}})
    };
    let resources = json!([
        config("on-demand", "false"),
        config("good", "true"),
        config("bad", "true"),
        config("late", "true"),
        build("good", "9", "Failed"),
        build("good", "10", "Complete"),
        build("bad", "1", "Failed"),
    ]);
    let report = world.try_apply(resources, json!({SHORT: 20_000})).await;
    use ResourceState::{Failed, Ready};
    let report = report.unwrap();
    let states: Vec<ResourceState> = report.resources.iter().map(|one| one.state).collect();
    assert_eq!(states, [Ready, Ready, Failed, Failed, Ready, Ready, Ready]);
    let messages: Vec<String> = report.errors().map(|error| error.message.clone()).collect();
    assert!(
        messages[0].ends_with("build bad-1: the build is Failed: no source"),
        "{messages:?}"
    );
    assert!(
        messages[1].contains("it waits for its builds"),
        "{messages:?}"
    );
    world.delete(&definitions, 30_000).await;
    world.end().await;
}
