//! `$(ref.NAME.PATH)`: values of live objects, in the order that they demand.

use anyhow::{Result, ensure};
use e2e::Stack;
use serde_json::Value;

#[tokio::test]
async fn a_reference_takes_its_value_from_the_live_object() -> Result<()> {
    let stack = Stack::start().await?;
    stack.write("refs.yaml", "resources:\n- name: settings\n  type: ConfigMap\n  properties:\n    data:\n      address: $(ref.front.spec.clusterIP):$(ref.front.spec.ports[0].port)\n- name: front\n  type: Service\n  properties:\n    spec: {ports: [{port: 80}], selector: {app: none}}\n")?;
    stack.deploy(&["refs.yaml"]).await?;

    let services = stack.cluster.objects(&stack.namespace, "services")?;
    let ip = services[0]["spec"]["clusterIP"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let maps = stack.cluster.objects(&stack.namespace, "configmaps")?;
    let settings: Vec<&Value> = maps
        .iter()
        .filter(|map| map["metadata"]["name"] == "settings")
        .collect();
    ensure!(!ip.is_empty() && settings.len() == 1);
    assert_eq!(settings[0]["data"]["address"], format!("{ip}:80"));
    Ok(())
}

#[tokio::test]
async fn a_cycle_of_references_is_named_in_full_before_anything_is_applied() -> Result<()> {
    let stack = Stack::start().await?;
    stack.write("cycle.yaml", "resources:\n- {name: a, type: ConfigMap, properties: {data: {x: $(ref.b.metadata.name)}}}\n- {name: b, type: ConfigMap, properties: {data: {x: $(ref.a.metadata.name)}}}\n")?;
    let error = stack
        .dm
        .fails(
            1,
            &["deploy", "cycle.yaml", "--namespace", &stack.namespace],
        )
        .await?;
    assert!(
        error.contains("a -> b -> a")
            || error.contains("b -> a -> b")
            || error.contains("a → b → a")
            || error.contains("b → a → b"),
        "{error}"
    );
    assert_eq!(stack.names("configmaps")?, ["kube-root-ca.crt"]);
    stack.dm.fails(3, &["get", "cycle"]).await?;
    Ok(())
}
