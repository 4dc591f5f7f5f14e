//! Live objects and what is said of them.

use super::*;
use serde_json::json;

fn said(live: Value) -> String {
    match of(&live) {
        Readiness::Ready => "ready".to_owned(),
        Readiness::Waiting(reason) => format!("waiting: {reason}"),
        Readiness::Failed(reason) => format!("failed: {reason}"),
    }
}

fn object(api_version: &str, kind: &str, spec: Value, status: Value) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x", "generation": 2}, "spec": spec, "status": status})
}

#[test]
fn each_kind_is_ready_by_its_own_rule() {
    let seen = |more: Value| {
        let mut status = json!({"observedGeneration": 2});
        status
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        status
    };
    let condition = |kind: &str, status: &str| json!({"conditions": [{"type": kind, "status": status, "reason": "Because", "message": "of this"}]});
    let three = || json!({"replicas": 3});
    let cases = [
        (
            object(
                "apps/v1",
                "Deployment",
                three(),
                json!({"observedGeneration": 1}),
            ),
            "waiting: its controller has not seen the change yet",
        ),
        (
            object(
                "apps/v1",
                "Deployment",
                three(),
                seen(json!({"updatedReplicas": 1, "replicas": 3})),
            ),
            "waiting: 1 of 3 replicas are updated",
        ),
        (
            object(
                "apps/v1",
                "Deployment",
                three(),
                seen(json!({"updatedReplicas": 3, "replicas": 4})),
            ),
            "waiting: 1 old replicas are still to go",
        ),
        (
            object(
                "apps/v1",
                "Deployment",
                three(),
                seen(json!({"updatedReplicas": 3, "replicas": 3, "availableReplicas": 2})),
            ),
            "waiting: 2 of 3 replicas are available",
        ),
        (
            object(
                "apps/v1",
                "Deployment",
                three(),
                seen(json!({"updatedReplicas": 3, "replicas": 3, "availableReplicas": 3})),
            ),
            "ready",
        ),
        (
            object(
                "apps/v1",
                "Deployment",
                three(),
                seen(
                    json!({"conditions": [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]}),
                ),
            ),
            "failed: ProgressDeadlineExceeded",
        ),
        (
            object(
                "apps/v1",
                "StatefulSet",
                three(),
                seen(json!({"readyReplicas": 2})),
            ),
            "waiting: 2 of 3 replicas are ready",
        ),
        (
            object(
                "apps/v1",
                "StatefulSet",
                three(),
                seen(
                    json!({"readyReplicas": 3, "updatedReplicas": 1, "updateRevision": "b", "currentRevision": "a"}),
                ),
            ),
            "waiting: 1 of 3 replicas are updated",
        ),
        (
            object(
                "apps/v1",
                "StatefulSet",
                three(),
                seen(json!({"readyReplicas": 3})),
            ),
            "ready",
        ),
        (
            object(
                "apps/v1",
                "DaemonSet",
                json!({}),
                seen(
                    json!({"desiredNumberScheduled": 2, "updatedNumberScheduled": 2, "numberReady": 1}),
                ),
            ),
            "waiting: the pod is ready on 1 of 2 nodes",
        ),
        (
            object(
                "v1",
                "ReplicationController",
                three(),
                seen(json!({"readyReplicas": 3})),
            ),
            "ready",
        ),
        (
            object(
                "apps/v1",
                "ReplicaSet",
                three(),
                seen(json!({"readyReplicas": 0})),
            ),
            "waiting: 0 of 3 replicas are ready",
        ),
        (
            object(
                "batch/v1",
                "Job",
                json!({"completions": 2}),
                json!({"succeeded": 1, "failed": 1}),
            ),
            "waiting: 1 of 2 pods have succeeded, 1 failed",
        ),
        (
            object("batch/v1", "Job", json!({}), condition("Failed", "True")),
            "failed: of this",
        ),
        (
            object("batch/v1", "Job", json!({}), condition("Complete", "True")),
            "ready",
        ),
        (
            object("v1", "Pod", json!({}), json!({"phase": "Pending"})),
            "waiting: it is Pending and not ready",
        ),
        (
            object("v1", "Pod", json!({}), json!({"phase": "Succeeded"})),
            "ready",
        ),
        (
            object(
                "v1",
                "PersistentVolumeClaim",
                json!({}),
                json!({"phase": "Pending"}),
            ),
            "waiting: no volume is bound to it yet",
        ),
        (
            object(
                "v1",
                "Service",
                json!({"type": "LoadBalancer"}),
                json!({"loadBalancer": {}}),
            ),
            "waiting: its load balancer has no address yet",
        ),
        (
            object(
                "v1",
                "Service",
                json!({"type": "ClusterIP"}),
                json!({"loadBalancer": {}}),
            ),
            "ready",
        ),
        (
            object("networking.k8s.io/v1", "Ingress", json!({}), json!({})),
            "waiting: its controller has given it no address yet",
        ),
        (
            object("v1", "Namespace", json!({}), json!({"phase": "Active"})),
            "ready",
        ),
        (
            object(
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                json!({}),
                json!({}),
            ),
            "waiting: it is not established yet",
        ),
        (
            object(
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                json!({}),
                condition("Established", "True"),
            ),
            "ready",
        ),
        (
            object(
                "apiregistration.k8s.io/v1",
                "APIService",
                json!({}),
                condition("Available", "False"),
            ),
            "waiting: of this",
        ),
        (
            object(
                "a.example/v1",
                "Thing",
                json!({}),
                condition("Ready", "False"),
            ),
            "waiting: of this",
        ),
        (
            object(
                "a.example/v1",
                "Thing",
                json!({}),
                condition("Ready", "True"),
            ),
            "ready",
        ),
        (object("v1", "ConfigMap", json!(null), json!(null)), "ready"),
    ];
    for (live, expected) in cases {
        assert_eq!(said(live.clone()), expected, "{live}");
    }
}

#[test]
fn pods_that_are_refused_for_good_are_a_failure() {
    let refused = |message: &str| json!({"observedGeneration": 2, "conditions": [{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message}]});
    let quota = "pods \"x\" is forbidden: exceeded quota: pods";
    for (api_version, kind) in [("apps/v1", "Deployment"), ("apps/v1", "ReplicaSet")] {
        let live = object(api_version, kind, json!({"replicas": 1}), refused(quota));
        assert_eq!(said(live), format!("failed: its pods are refused: {quota}"));
    }
    let account = "pods \"x\" is forbidden: error looking up service account a/b: not found";
    let live = object(
        "apps/v1",
        "ReplicaSet",
        json!({"replicas": 1}),
        refused(account),
    );
    assert!(said(live).starts_with("waiting"));
}

#[test]
fn a_custom_resource_is_judged_by_what_is_said_of_its_present_state() {
    let thing = |conditions: Value| {
        object(
            "a.example/v1",
            "Thing",
            json!({}),
            json!({"conditions": conditions}),
        )
    };
    let of = |generation: u64| json!([{"type": "Ready", "status": "True", "observedGeneration": generation}]);
    assert_eq!(
        said(thing(of(1))),
        "waiting: its controller has not seen the change yet"
    );
    assert_eq!(said(thing(of(2))), "ready");
    let doing = json!([{"type": "Ready", "status": "True"}, {"type": "Reconciling", "status": "True", "message": "rolling out"}]);
    assert_eq!(said(thing(doing)), "waiting: rolling out");
    let stalled = json!([{"type": "Stalled", "status": "True", "reason": "BadInput"}]);
    assert_eq!(said(thing(stalled)), "failed: BadInput");
}

#[test]
fn an_objects_own_condition_goes_over_the_rule_of_its_kind() {
    let thing = |status: Value| {
        let mut live = object("a.example/v1", "Thing", json!({}), status);
        live["metadata"]["annotations"] = json!({
            "deployment-manager.dev/ready-when": "{.status.phase}=Running",
            "deployment-manager.dev/fail-when": "{.status.phase}=Broken",
        });
        live
    };
    assert_eq!(said(thing(json!({"phase": "Running"}))), "ready");
    assert_eq!(
        said(thing(json!({"phase": "Broken"}))),
        "failed: its condition of failure holds: {.status.phase}=Broken"
    );
    assert_eq!(
        said(thing(json!({"phase": "New"}))),
        "waiting: {.status.phase}=Running does not hold: now it is New"
    );
    assert_eq!(
        said(thing(json!(null))),
        "waiting: {.status.phase}=Running does not hold: there is no such value yet"
    );
}

#[test]
fn what_is_being_deleted_is_not_ready_and_says_who_holds_it() {
    let mut live = object("v1", "ConfigMap", json!(null), json!(null));
    live["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    live["metadata"]["finalizers"] = json!(["example.com/hold"]);
    assert_eq!(
        said(live),
        "waiting: it is being deleted; finalizers hold it: example.com/hold"
    );
}

#[test]
fn a_pod_says_what_its_container_waits_for() {
    let status = |container: Value| json!({"phase": "Pending", "containerStatuses": [container]});
    let pulling = json!({"name": "app", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}});
    assert_eq!(
        said(object("v1", "Pod", json!({}), status(pulling))),
        "failed: container app is in ImagePullBackOff: no such image"
    );
    let crashing = json!({"name": "app", "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"exitCode": 1}}});
    assert_eq!(
        said(object("v1", "Pod", json!({}), status(crashing))),
        "waiting: container app is in CrashLoopBackOff; it ended with exit code 1"
    );
}
