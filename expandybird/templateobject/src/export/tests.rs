//! Cleaning, parameters, and the way back: a Template that is processed again gives the same objects.

use std::collections::HashMap;

use serde_json::json;

use super::*;
use crate::{Inputs, Seeded, Template, process};

fn deployment() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 3, "template": {"spec": {"containers": [
            {"name": "web", "image": "registry.example/web:1", "args": ["$(WEB_REPLICAS)", "$(HOME)"]},
            {"name": "side-car", "image": "registry.example/side:2"},
        ]}}},
    })
}

fn secret() -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"}, "data": {"user.name": "(redacted)"}})
}

fn ingress() -> Value {
    json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "web"},
        "spec": {"rules": [{"host": "a.example"}, {"host": "b.example"}, {}], "tls": [{"hosts": ["a.example"]}]},
    })
}

fn style(parameterize: bool) -> Style<'static> {
    Style {
        name: "shop",
        parameterize,
    }
}

fn processed(template: Value, parameters: Value) -> Vec<Value> {
    let inputs = Inputs {
        parameters: parameters.as_object().cloned().unwrap(),
        ..Inputs::default()
    };
    let mut values = Seeded::new(b"seed", "", HashMap::new());
    let template = Template::read(template).unwrap();
    process(template, &inputs, &mut values).unwrap().objects
}

#[test]
fn what_a_cluster_has_written_is_left_out() {
    let live = json!({
        "apiVersion": "v1", "kind": "Service", "status": {"loadBalancer": {}},
        "metadata": {
            "name": "web", "namespace": "shop", "uid": "1", "resourceVersion": "2", "generation": 1, "managedFields": [],
            "creationTimestamp": "2026-01-01T00:00:00Z", "ownerReferences": [], "selfLink": "/x",
            "deletionTimestamp": "2026-01-02T00:00:00Z", "deletionGracePeriodSeconds": 30,
            "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": "{}", "deployment-manager.dev/resource": "web",
                "deployment.kubernetes.io/revision": "3", "pv.kubernetes.io/bind-completed": "yes",
                "deployment-manager.dev/ready-when": "{.a}=b", "own": "1",
            },
            "labels": {"deployment-manager.dev/deployment": "d", "app.kubernetes.io/managed-by": "deployment-manager"},
        },
        "spec": {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "ports": [{"port": 80, "nodePort": 30000}]},
    });
    let anywhere = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "web", "annotations": {"deployment-manager.dev/ready-when": "{.a}=b", "own": "1"}},
        "spec": {"ports": [{"port": 80}]},
    });
    assert_eq!(cleaned(live.clone(), Portable::Anywhere), Some(anywhere));
    let exact = cleaned(live, Portable::Exact).unwrap();
    assert_eq!(exact["metadata"]["namespace"], "shop");
    assert_eq!(exact["spec"]["clusterIP"], "10.0.0.1");
    assert_eq!(exact.get("status"), None);
}

#[test]
fn each_kind_loses_what_only_its_cluster_knows() {
    let clean = |object: Value| cleaned(object, Portable::Anywhere);
    for (live, expected) in [
        (
            json!({"kind": "Service", "spec": {"clusterIP": "None", "clusterIPs": ["None"]}}),
            Some(json!({"kind": "Service", "spec": {"clusterIP": "None", "clusterIPs": ["None"]}})),
        ),
        (
            json!({"kind": "PersistentVolumeClaim", "spec": {"volumeName": "pv-1", "accessModes": []}, "metadata": {
                "finalizers": ["kubernetes.io/pvc-protection"],
                "annotations": {"volume.kubernetes.io/selected-node": "n1", "volume.beta.kubernetes.io/storage-provisioner": "p"}}}),
            Some(
                json!({"kind": "PersistentVolumeClaim", "spec": {"accessModes": []}, "metadata": {}}),
            ),
        ),
        (
            json!({"kind": "ServiceAccount", "metadata": {"name": "a"}, "secrets": [{"name": "a-token-x"}, {"name": "own"}],
                "imagePullSecrets": [{"name": "a-dockercfg-x"}]}),
            Some(
                json!({"kind": "ServiceAccount", "metadata": {"name": "a"}, "secrets": [{"name": "own"}]}),
            ),
        ),
        (
            json!({"kind": "Job", "metadata": {"generateName": "a-", "name": "a-x"}}),
            Some(json!({"kind": "Job", "metadata": {"generateName": "a-"}})),
        ),
        (
            json!({"kind": "Secret", "type": "kubernetes.io/service-account-token"}),
            None,
        ),
        (
            json!({"kind": "Service", "spec": {"type": "LoadBalancer", "healthCheckNodePort": 31000, "ports": [{"nodePort": 30000}]}}),
            Some(json!({"kind": "Service", "spec": {"type": "LoadBalancer", "ports": [{}]}})),
        ),
        (
            json!({"kind": "PersistentVolumeClaim", "metadata": {"finalizers": ["kubernetes.io/pvc-protection", "own/one"]}}),
            Some(json!({"kind": "PersistentVolumeClaim", "metadata": {"finalizers": ["own/one"]}})),
        ),
        (
            json!({"kind": "ServiceAccount", "metadata": {"name": "default"}}),
            None,
        ),
        (
            json!({"kind": "ConfigMap", "metadata": {"name": "kube-root-ca.crt"}}),
            None,
        ),
        (json!("no object"), None),
    ] {
        assert_eq!(clean(live.clone()), expected, "{live}");
    }
}

#[test]
fn a_template_of_plain_objects_has_no_parameters() {
    let made = template(vec![deployment()], style(false));
    assert_eq!(made.get("parameters"), None);
    assert_eq!(made["metadata"]["name"], "shop");
    assert_eq!(processed(made, json!({})), [deployment()]);
}

#[test]
fn settings_become_parameters_with_their_values_as_defaults() {
    let made = template(vec![deployment(), ingress()], style(true));
    let parameters = json!([
        {"name": "WEB_IMAGE", "value": "registry.example/web:1"},
        {"name": "WEB_SIDE_CAR_IMAGE", "value": "registry.example/side:2"},
        {"name": "WEB_REPLICAS_2", "type": "int", "value": "3"},
        {"name": "WEB_HOST", "value": "a.example"},
        {"name": "WEB_HOST_2", "value": "b.example"},
    ]);
    assert_eq!(made["parameters"], parameters);
    assert_eq!(
        made["objects"][1]["spec"]["tls"][0]["hosts"][0],
        "$(WEB_HOST)"
    );
    assert_eq!(
        processed(made.clone(), json!({})),
        [deployment(), ingress()]
    );
    let other = processed(made, json!({"WEB_REPLICAS_2": 5}));
    assert_eq!(other[0]["spec"]["replicas"], 5);
}

#[test]
fn values_of_secrets_are_required_parameters() {
    for parameterize in [false, true] {
        let made = template(vec![secret()], style(parameterize));
        assert!(!made.to_string().contains("redacted"), "{made}");
        assert_eq!(made["parameters"][0]["name"], "DB_USER_NAME");
        assert_eq!(made["parameters"][0]["required"], true);
        let again = processed(made, json!({"DB_USER_NAME": "cm9vdA=="}));
        assert_eq!(again[0]["data"]["user.name"], "cm9vdA==");
    }
}
