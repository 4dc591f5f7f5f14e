//! Changing properties, going back by number, and what is found before anything is written.

use anyhow::{Result, ensure};
use e2e::Stack;

use crate::lifecycle::deploy_web;

#[tokio::test]
async fn a_property_changes_alone_and_revisions_are_gone_back_to_by_number() -> Result<()> {
    let stack = Stack::start().await?;
    deploy_web(&stack).await?;
    stack
        .dm
        .ok(&["update", "web", "--set", "replicas=5"])
        .await?;
    assert_eq!(stack.ready_pods()?, 5);
    assert_eq!(
        stack.names("configmaps")?,
        ["kube-root-ca.crt", "web-config"],
        "what was given before stays"
    );
    let kept = stack.dm.ok(&["get", "web", "properties"]).await?;
    ensure!(kept.contains("greeting: hello"), "{kept}");
    let history = stack.dm.json(&["history", "web"]).await?;
    let states: Vec<_> = history["items"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|item| (item["revision"].as_u64(), item["state"].as_str()))
        .collect();
    assert_eq!(
        states,
        [(Some(1), Some("SUPERSEDED")), (Some(2), Some("DEPLOYED"))]
    );
    stack.dm.ok(&["rollback", "web", "1"]).await?;
    let deployments = stack.cluster.objects(&stack.namespace, "deployments")?;
    assert_eq!(deployments[0]["spec"]["replicas"], 3);
    stack.dm.ok(&["delete", "web"]).await?;
    Ok(())
}

#[tokio::test]
async fn apply_creates_updates_and_goes_on_after_a_failure() -> Result<()> {
    let stack = Stack::start().await?;
    let good = "resources:\n- name: settings\n  type: ConfigMap\n  properties: {data: {a: '1'}}\n";
    let bad = "resources:\n- name: settings\n  type: ConfigMap\n  properties:\n    dta: {a: '1'}\n";
    stack.write("web.yaml", bad)?;
    let apply = ["apply", "web.yaml", "--namespace", &stack.namespace];
    let said = stack.dm.fails(1, &apply).await?;
    for expected in [
        "web.yaml:5",
        "field not declared in schema",
        "nothing was changed",
    ] {
        ensure!(said.contains(expected), "{expected} is not in\n{said}");
    }
    assert_eq!(stack.names("configmaps")?, ["kube-root-ca.crt"]);
    stack.write("web.yaml", good)?;
    stack.dm.ok(&apply).await?;
    stack.dm.ok(&apply).await?;
    assert_eq!(stack.names("configmaps")?, ["kube-root-ca.crt", "settings"]);
    stack.write("web.yaml", "resources: []\n")?;
    let said = stack.dm.fails(1, &apply).await?;
    ensure!(said.contains("--allow-deletes"), "{said}");
    stack
        .dm
        .ok(&[&apply[..], &["--allow-deletes"]].concat())
        .await?;
    assert_eq!(stack.names("configmaps")?, ["kube-root-ca.crt"]);
    stack.dm.ok(&["delete", "web"]).await?;
    Ok(())
}

#[tokio::test]
async fn a_missing_namespace_is_created_if_that_is_wanted() -> Result<()> {
    let stack = Stack::start().await?;
    let namespace = format!("{}-new", stack.namespace);
    stack.write(
        "web.yaml",
        "resources:\n- {name: settings, type: ConfigMap}\n",
    )?;
    let apply = ["apply", "web.yaml", "-n", &namespace];
    let said = stack.dm.fails(1, &apply).await?;
    ensure!(said.contains("--create-namespace"), "{said}");
    stack.dm.ok(&["delete", "web"]).await?;
    stack
        .dm
        .ok(&[&apply[..], &["--create-namespace"]].concat())
        .await?;
    stack.dm.ok(&["delete", "web"]).await?;
    stack
        .cluster
        .kubectl(&["delete", "namespace", &namespace, "--wait=false"])?;
    Ok(())
}
