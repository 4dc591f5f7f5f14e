//! Live objects as a Template: what is left out of them, and that the Template describes what is there.

use anyhow::{Context as _, Result, ensure};
use e2e::Stack;
use reqwest::StatusCode;
use serde_json::{Value, json};

const OBJECTS: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: shop}}
data: {path: $(HOME)/bin, user: '${USER}'}
---
apiVersion: v1
kind: Service
metadata: {name: web, labels: {app: shop}}
spec: {type: NodePort, selector: {app: shop}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: shop}}
spec:
  replicas: 2
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec: {containers: [{name: main, image: simulated.invalid/well, args: [$(POD)], env: [{name: POD, value: x}]}]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, labels: {app: shop}}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: robot, labels: {app: shop}}
---
apiVersion: v1
kind: Secret
metadata: {name: robot-token, labels: {app: shop}, annotations: {kubernetes.io/service-account.name: robot}}
type: kubernetes.io/service-account-token
";

/// A stack with the objects in its namespace.
async fn start() -> Result<Stack> {
    let stack = Stack::start().await?;
    let create = ["create", "--namespace", &stack.namespace];
    stack.cluster.kubectl_with(OBJECTS, &create)?;
    Ok(stack)
}

async fn exported(stack: &Stack, query: &str) -> Result<(StatusCode, Value)> {
    let namespace = &stack.namespace;
    stack
        .get(&format!("/export?namespace={namespace}&{query}"))
        .await
}

/// Kinds and names of a Template's objects.
fn names(template: &Value) -> Vec<String> {
    let objects = template["objects"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    objects
        .map(|object| {
            format!(
                "{}/{}",
                text(&object["kind"]),
                text(&object["metadata"]["name"])
            )
        })
        .collect()
}

#[tokio::test]
async fn a_template_of_live_objects_describes_what_is_there() -> Result<()> {
    let stack = start().await?;
    let (status, template) = exported(&stack, "selector=app%3Dshop").await?;
    assert_eq!(status, 200, "{template}");
    assert_eq!(
        names(&template),
        [
            "ServiceAccount/robot",
            "ConfigMap/settings",
            "PersistentVolumeClaim/data",
            "Service/web",
            "Deployment/web"
        ]
    );
    let text = template.to_string();
    for field in [
        "status",
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "generation",
        "managedFields",
        "clusterIP",
        "clusterIPs",
        "nodePort",
        "finalizers",
        "deployment.kubernetes.io/revision",
        "volume.kubernetes.io/storage-provisioner",
    ] {
        ensure!(!text.contains(&format!("\"{field}\":")), "{field}: {text}");
    }
    let file = stack.write("shop.json", &text)?.display().to_string();
    let process = ["process", "-f", &file, "--local", "--raw", "-o", "yaml"];
    let objects = stack.dm.ok(&process).await?;
    ensure!(objects.contains("$(HOME)/bin"), "{objects}");
    let namespace = stack.namespace.as_str();
    let diff = ["diff", "--namespace", namespace, "--server-side"];
    // It fails if anything differs.
    let force = [&diff[..], &["--force-conflicts"]].concat();
    assert_eq!(stack.cluster.kubectl_with(&objects, &force)?, "");
    Ok(())
}

#[tokio::test]
async fn kinds_names_and_labels_choose_what_is_exported() -> Result<()> {
    let stack = start().await?;
    for (query, expected) in [
        ("kind=ConfigMap", &["ConfigMap/settings"][..]),
        ("kind=Service&name=web", &["Service/web"]),
        (
            "kind=apps/v1/Deployment,Service&name=web",
            &["Deployment/web", "Service/web"],
        ),
        (
            "kind=ConfigMap,Secret&selector=app%3Dshop",
            &["ConfigMap/settings"],
        ),
        ("kind=Service,ConfigMap&selector=app!%3Dshop", &[]),
        ("kind=Secret", &[]),
    ] {
        let (status, template) = exported(&stack, query).await?;
        assert_eq!(names(&template), expected, "{query}: {template}");
        if expected.is_empty() {
            let message = template["message"].as_str().context("a message")?;
            assert_eq!(
                (status.as_u16(), message),
                (404, "no resources found - nothing to export")
            );
        }
    }
    for (query, status, code) in [
        ("kind=ConfigMap&name=none", 404, "NOT_FOUND"),
        ("kind=Nothing", 400, "UNKNOWN_TYPE"),
        ("kind=Service&selector=%3D%3D", 422, "RESOURCES_FAILED"),
        ("kind=,", 400, "INVALID_REQUEST"),
    ] {
        let (found, answer) = exported(&stack, query).await?;
        assert_eq!(
            (found.as_u16(), &answer["code"]),
            (status, &json!(code)),
            "{query}: {answer}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn live_objects_keep_what_is_asked_for() -> Result<()> {
    let stack = start().await?;
    let export = ["export", "Service/web", "-n", &stack.namespace];
    let item = async |more: &[&str]| -> Result<Value> {
        let list = stack.dm.json(&[&export[..], more].concat()).await?;
        Ok(list["items"][0].clone())
    };
    let exact = item(&["--exact"]).await?;
    assert_eq!(exact["metadata"]["namespace"], stack.namespace);
    for field in ["clusterIP", "clusterIPs"] {
        ensure!(!exact["spec"][field].is_null(), "{exact}");
    }
    ensure!(exact["spec"]["ports"][0]["nodePort"].is_u64(), "{exact}");
    assert_eq!(exact.get("status"), None);
    let raw = item(&["--raw"]).await?;
    for field in ["uid", "resourceVersion", "creationTimestamp"] {
        ensure!(!raw["metadata"][field].is_null(), "{raw}");
    }
    ensure!(raw.get("status").is_some(), "{raw}");
    Ok(())
}
