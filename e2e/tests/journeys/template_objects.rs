//! Template objects, from the store of the manager to the cluster and through updates.

use anyhow::{Context as _, Result, ensure};
use e2e::Stack;
use reqwest::Method;
use serde_json::{Value, json};

/// A generated password, in OpenShift's dialect. It has a message and exposes both values.
fn database() -> Value {
    json!({
        "kind": "Template", "apiVersion": "template.openshift.io/v1", "metadata": {"name": "database"},
        "message": "The user is ${USER}, the password is ${PASSWORD}.",
        "parameters": [
            {"name": "USER", "value": "root"},
            {"name": "PASSWORD", "generate": "expression", "from": "pw-[a-z0-9]{12}"},
        ],
        "objects": [{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "database", "annotations": {
                "template.openshift.io/expose-password": "{.data['password']}"}},
            "stringData": {"user": "${USER}", "password": "${PASSWORD}"}},
            {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "database", "annotations": {
                "template.openshift.io/expose-uri": "db://{.spec.clusterIP}:{.spec.ports[?(.name==\"db\")].port}"}},
            "spec": {"clusterIP": "None", "selector": {"app": "database"}, "ports": [{"name": "db", "port": 5432}]}}],
    })
}

/// Instances of it select different pods, in the proposal's dialect.
const WEB: &str = "\
apiVersion: v1
kind: Template
metadata: {name: web}
labels: {slot: $(SLOT)}
parameters:
- {name: SLOT, required: true}
- {name: COUNT, type: int, value: \"1\"}
objects:
- apiVersion: v1
  kind: Service
  metadata: {name: web-$(SLOT)}
  spec: {selector: {app: web}, ports: [{port: 80}]}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web-$(SLOT)}
  spec:
    replicas: $((COUNT))
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: simulated.invalid/well}]}
";

const SLOTS: &str = "\
imports: [{path: web.yaml}]
resources:
- {name: blue, type: web.yaml, properties: {SLOT: blue, COUNT: 2}}
- {name: green, type: web.yaml, properties: {SLOT: green}}
";

fn field(stack: &Stack, object: &str, path: &str) -> Result<String> {
    let path = format!("jsonpath={{{path}}}");
    let args = ["get", object, "--namespace", &stack.namespace, "-o", &path];
    stack.cluster.kubectl(&args)
}

fn password(stack: &Stack) -> Result<String> {
    field(stack, "secret/database", ".data.password")
}

/// Stores the Template as a Kubernetes client does. Returns its type.
async fn store(stack: &Stack, template: &Value) -> Result<String> {
    let namespace = &stack.namespace;
    let path = format!("/apis/template.openshift.io/v1/namespaces/{namespace}/templates");
    let (status, answer) = stack.request(Method::POST, &path, Some(template)).await?;
    ensure!(status.is_success(), "{path}: {answer}");
    let name = answer["metadata"]["name"].as_str().context("a name")?;
    Ok(format!("template:{namespace}/{name}"))
}

#[tokio::test]
async fn a_generated_password_stays_until_it_is_made_again() -> Result<()> {
    let mut stack = Stack::start().await?;
    let type_name = store(&stack, &database()).await?;
    let listed = stack.dm.ok(&["templates", "-n", &stack.namespace]).await?;
    ensure!(listed.contains("database"), "{listed}");
    let described = stack.dm.ok(&["describe", &type_name]).await?;
    ensure!(described.contains("PASSWORD"), "{described}");

    let said = stack.deploy(&[&type_name, "--name", "shop"]).await?;
    for part in [
        "the password is (redacted).",
        "password = (redacted)",
        "uri = db://None:5432",
    ] {
        ensure!(said.contains(part), "{part}: {said}");
    }
    let first = password(&stack)?;
    stack.manager.crash()?;
    stack.manager.again().await?;
    stack.ready().await?;
    stack.dm.ok(&["update", "shop", "-p", "USER=admin"]).await?;
    assert_eq!(field(&stack, "secret/database", ".data.user")?, "YWRtaW4=");
    assert_eq!(password(&stack)?, first, "an update keeps the password");

    let again = ["update", "shop", "--regenerate", "$.resources[0].PASSWORD"];
    stack.dm.ok(&again).await?;
    let second = password(&stack)?;
    assert_ne!(second, first);
    let manifest = stack.dm.ok(&["manifest", "shop", "-o", "json"]).await?;
    ensure!(!manifest.contains(&second), "{manifest}");

    stack.dm.ok(&["rollback", "shop"]).await?;
    assert_eq!(password(&stack)?, first, "a rollback brings it back");
    stack.dm.ok(&["delete", "shop"]).await?;
    assert_eq!(stack.names("secrets")?, Vec::<String>::new());
    Ok(())
}

#[tokio::test]
async fn kinds_that_only_openshift_has_are_named_before_anything_is_applied() -> Result<()> {
    let stack = Stack::start().await?;
    let object = |api_version: &str, kind: &str| json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "web"}});
    let template = json!({
        "kind": "Template", "apiVersion": "template.openshift.io/v1", "metadata": {"name": "web"},
        "objects": [
            object("v1", "ConfigMap"),
            object("v1", "DeploymentConfig"),
            object("route.openshift.io/v1", "Route"),
            object("image.openshift.io/v1", "ImageStream"),
            object("build.openshift.io/v1", "BuildConfig"),
        ],
    });
    let file = stack.write("web.json", &template.to_string())?;
    let file = file.display().to_string();
    let said = stack
        .dm
        .fails(1, &["deploy", &file, "--namespace", &stack.namespace])
        .await?;
    for part in [
        "apps.openshift.io/v1/DeploymentConfig, which is one of OpenShift: use apps/v1/Deployment instead",
        "route.openshift.io/v1/Route",
        "image.openshift.io/v1/ImageStream",
        "build.openshift.io/v1/BuildConfig",
    ] {
        ensure!(said.contains(part), "{part}: {said}");
    }
    let names = stack.names("configmaps")?;
    ensure!(!names.contains(&"web".to_owned()), "{names:?}");
    Ok(())
}

#[tokio::test]
async fn two_instances_of_a_template_select_different_pods() -> Result<()> {
    let stack = Stack::start().await?;
    stack.write("web.yaml", WEB)?;
    let slots = stack.write("slots.yaml", SLOTS)?;
    stack.deploy(&[&slots.display().to_string()]).await?;
    assert_eq!(stack.ready_pods()?, 3);
    for slot in ["blue", "green"] {
        let selector = field(&stack, &format!("service/web-{slot}"), ".spec.selector")?;
        let selector: Value = serde_json::from_str(&selector)?;
        assert_eq!(selector, json!({"app": "web", "slot": slot}));
        let deployment = format!("deployment/web-{slot}");
        let label = field(&stack, &deployment, ".spec.selector.matchLabels.slot")?;
        assert_eq!(label, slot);
    }
    stack.dm.ok(&["delete", "slots"]).await?;
    Ok(())
}

#[tokio::test]
async fn live_objects_are_exported_and_deployed_into_another_namespace() -> Result<()> {
    let (stack, other) = (Stack::start().await?, Stack::start().await?);
    let type_name = store(&stack, &database()).await?;
    stack.deploy(&[&type_name, "--name", "shop"]).await?;
    let from = stack.namespace.as_str();
    let args = [
        "export",
        "Secret/database",
        "Service",
        "-n",
        from,
        "--as-template",
        "copy",
    ];
    let template = stack.dm.ok(&args).await?;
    ensure!(!template.contains("redacted"), "{template}");
    let file = other.write("copy.yaml", &template)?;
    let file = file.display().to_string();

    let missing = other.dm.fails(1, &["deploy", &file]).await?;
    ensure!(missing.contains("DATABASE_PASSWORD"), "{missing}");
    let values = [
        "-p",
        "DATABASE_PASSWORD=c2VjcmV0",
        "-p",
        "DATABASE_USER=cm9vdA==",
    ];
    other
        .deploy(&[&[file.as_str()][..], &values].concat())
        .await?;
    assert_eq!(password(&other)?, "c2VjcmV0");
    let port = field(&other, "service/database", ".spec.ports[0].port")?;
    assert_eq!(port, "5432");
    Ok(())
}

#[tokio::test]
async fn all_faults_of_a_template_are_reported_at_their_lines() -> Result<()> {
    let stack = Stack::start().await?;
    let web = stack.write("web.yaml", WEB)?;
    let web = web.display().to_string();
    let said = stack
        .dm
        .fails(1, &["deploy", &web, "-p", "COUNT=x"])
        .await?;
    for part in ["SLOT", "COUNT"] {
        ensure!(said.contains(part), "{part}: {said}");
    }
    let list = stack
        .dm
        .ok(&["process", "-f", &web, "SLOT=blue", "-o", "name"])
        .await?;
    assert_eq!(list, "service/web-blue\ndeployment.apps/web-blue\n");
    assert_eq!(stack.names("services")?, Vec::<String>::new());
    Ok(())
}
