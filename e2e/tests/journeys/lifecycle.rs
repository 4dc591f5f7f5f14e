//! Deploy, look, update, delete: the main road.

use anyhow::{Result, ensure};
use e2e::Stack;
use serde_json::{Value, json};

/// Deploys `web` with a ConfigMap beside its Deployment and Service, and three pods.
pub async fn deploy_web(stack: &Stack) -> Result<String> {
    stack
        .deploy(&[
            "replicatedservice:v1",
            "--name",
            "web",
            "--properties",
            "replicas=3,config.greeting=hello",
        ])
        .await
}

/// Replaces its configuration: five pods, no ConfigMap.
pub async fn grow_web(stack: &Stack) -> Result<String> {
    stack
        .dm
        .ok(&[
            "update",
            "replicatedservice:v1",
            "--name",
            "web",
            "--properties",
            "replicas=5",
        ])
        .await
}

/// What `GET /types/{type}/instances` lists of a deployment: name and path in the layout.
pub async fn instances(stack: &Stack, type_name: &str) -> Result<Vec<(String, String)>> {
    let encoded = type_name.replace('/', "%2F").replace(':', "%3A");
    let (status, body) = stack.get(&format!("/types/{encoded}/instances")).await?;
    ensure!(status == 200, "{body}");
    let text = |item: &Value, key: &str| item[key].as_str().unwrap_or_default().to_owned();
    let items = body["items"].as_array().cloned().unwrap_or_default();
    Ok(items
        .iter()
        .map(|item| (text(item, "name"), text(item, "path")))
        .collect())
}

#[tokio::test]
async fn a_template_of_the_registry_becomes_ready_pods_and_goes_without_trace() -> Result<()> {
    let stack = Stack::start().await?;

    deploy_web(&stack).await?;
    assert_eq!(
        stack.ready_pods()?,
        3,
        "deploy returns when all pods are ready"
    );
    assert_eq!(
        stack.names("configmaps")?,
        ["kube-root-ca.crt", "web-config"]
    );

    let layout = stack.dm.ok(&["layout", "web"]).await?;
    for expected in ["web", "replicatedservice:v1", "Service", "Deployment"] {
        assert!(
            layout.contains(expected),
            "{expected} is not in the tree:\n{layout}"
        );
    }

    grow_web(&stack).await?;
    assert_eq!(stack.ready_pods()?, 5);
    assert_eq!(
        stack.names("configmaps")?,
        ["kube-root-ca.crt"],
        "the object that is gone from the configuration is pruned"
    );
    assert_eq!(stack.names("services")?.len(), 1, "and no other");
    assert_eq!(stack.names("deployments")?.len(), 1);

    stack.dm.ok(&["delete", "web"]).await?;
    for kind in ["deployments", "services", "replicasets", "pods"] {
        assert_eq!(stack.names(kind)?, Vec::<String>::new(), "{kind} are left");
    }
    stack.dm.fails(3, &["get", "web"]).await?;
    Ok(())
}

#[tokio::test]
async fn types_tell_what_runs_where() -> Result<()> {
    let stack = Stack::start().await?;
    deploy_web(&stack).await?;

    assert_eq!(
        instances(&stack, "replicatedservice:v1").await?,
        [("web".to_owned(), "$.resources[0]".to_owned())]
    );
    let services = instances(&stack, "Service").await?;
    assert_eq!(services.len(), 1, "{services:?}");
    assert!(
        services[0].1.starts_with("$.resources[0].resources["),
        "{services:?}"
    );
    assert_eq!(
        instances(&stack, "all").await?.len(),
        4,
        "the template, and three primitives"
    );

    let (_, manifests) = stack.get("/deployments/web/manifests").await?;
    let manifest = manifests["items"][0]["name"].as_str().unwrap_or_default();
    let (status, node) = stack
        .get(&format!(
            "/deployments/web/manifests/{manifest}/layout?path={}",
            services[0].1
        ))
        .await?;
    assert_eq!(
        (status.as_u16(), &node["type"]),
        (200, &json!("Service")),
        "an instance's path leads to its node"
    );

    let types = stack.dm.ok(&["deployed-types"]).await?;
    assert!(
        types.contains("replicatedservice:v1") && types.contains("Service"),
        "{types}"
    );

    stack.dm.ok(&["delete", "web"]).await?;
    assert_eq!(
        instances(&stack, "all").await?,
        [],
        "a deleted deployment has no instances"
    );
    Ok(())
}

#[tokio::test]
async fn a_manifest_says_what_was_asked_and_what_became_of_it() -> Result<()> {
    let stack = Stack::start().await?;
    deploy_web(&stack).await?;

    let manifest = stack.dm.json(&["manifest", "web"]).await?;
    assert_eq!(manifest["resolvedTypes"][0]["type"], "replicatedservice:v1");
    assert_eq!(
        manifest["resolvedTypes"][0]["version"], "v1.0.1",
        "the highest patch of v1.0"
    );
    let types = manifest["expandedConfig"]["resources"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    assert_eq!(types.len(), 3, "{types:?}");
    assert!(
        manifest["digests"]["expansion"]
            .as_str()
            .is_some_and(|digest| digest.starts_with("sha256:"))
    );

    let deployment = stack.dm.json(&["get", "web"]).await?;
    assert_eq!(deployment["state"]["status"], "Deployed");
    assert_eq!(deployment["latestManifest"], manifest["name"]);
    Ok(())
}

#[tokio::test]
async fn a_configuration_brings_its_own_templates() -> Result<()> {
    let stack = Stack::start().await?;
    stack.write("pair.jinja", "resources:\n{% for n in range(properties.count) %}\n- name: {{ env.deployment }}-{{ n }}\n  type: ConfigMap\n  properties:\n    data: {index: '{{ n }}'}\n{% endfor %}\n")?;
    stack.write(
        "pair.jinja.schema",
        "properties:\n  count: {type: integer, default: 2, maximum: 5}\n",
    )?;
    stack.write(
        "plain.yaml",
        "imports:\n- path: pair.jinja\nresources:\n- name: both\n  type: pair.jinja\n",
    )?;

    stack.deploy(&["plain.yaml"]).await?;
    assert_eq!(
        stack.names("configmaps")?,
        ["kube-root-ca.crt", "plain-0", "plain-1"]
    );
    stack.dm.ok(&["delete", "plain"]).await?;
    assert_eq!(stack.names("configmaps")?, ["kube-root-ca.crt"]);
    Ok(())
}

#[tokio::test]
async fn an_asynchronous_write_answers_with_an_operation_to_wait_for() -> Result<()> {
    let stack = Stack::start().await?;
    let operation = stack
        .dm
        .json(&[
            "deploy",
            "replicatedservice:v1",
            "--name",
            "web",
            "--async",
            "--namespace",
            &stack.namespace,
        ])
        .await?;
    let id = operation["id"].as_str().unwrap_or_default();
    stack.dm.ok(&["wait", id]).await?;
    assert_eq!(stack.ready_pods()?, 1);
    Ok(())
}

#[tokio::test]
async fn expansion_without_deploying_leaves_no_trace() -> Result<()> {
    let stack = Stack::start().await?;
    let text = stack
        .dm
        .ok(&["expand", "replicatedservice:v1", "--name", "web"])
        .await?;
    assert!(
        text.contains("kind: Deployment") || text.contains("type: Deployment"),
        "{text}"
    );
    let (_, list) = stack.get("/deployments").await?;
    assert_eq!(list["items"], json!([]));
    assert_eq!(stack.names("deployments")?, Vec::<String>::new());
    Ok(())
}
