//! Others change what a deployment asked for: conflicts, and what each policy makes of them.

use anyhow::Result;
use e2e::Stack;

use crate::configurations::{map_with, maps};

/// Deploys a config map, and lets another manager take its value over.
async fn taken_over() -> Result<Stack> {
    let stack = Stack::start().await?;
    stack.write("own.yaml", &maps(&["own"], "first"))?;
    stack.deploy(&["own.yaml"]).await?;
    takes(&stack, "theirs")?;
    Ok(stack)
}

/// Another manager, `somebody`, makes the value its own.
fn takes(stack: &Stack, value: &str) -> Result<()> {
    let object = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: own, namespace: {}}}\ndata: {{value: {value}}}\n",
        stack.namespace
    );
    let file = stack.write("theirs.yaml", &object)?;
    let file = file.display().to_string();
    stack.cluster.kubectl(&[
        "apply",
        "--server-side",
        "--field-manager=somebody",
        "--force-conflicts",
        "-f",
        &file,
    ])?;
    Ok(())
}

fn value(stack: &Stack) -> Result<String> {
    let args = ["get", "configmap", "own", "-o", "jsonpath={.data.value}"];
    let namespace = ["--namespace", &stack.namespace];
    stack.cluster.kubectl(&[&args[..], &namespace].concat())
}

#[tokio::test]
async fn a_conflict_names_the_other_manager_the_field_and_both_values() -> Result<()> {
    let stack = taken_over().await?;
    stack.write("own.yaml", &maps(&["own"], "second"))?;
    let error = stack.dm.fails(1, &["update", "own.yaml"]).await?;
    for part in ["somebody", "data.value", "theirs", "second"] {
        assert!(error.contains(part), "{part} is not in\n{error}");
    }
    assert_eq!(value(&stack)?, "theirs");
    Ok(())
}

#[tokio::test]
async fn a_conflict_is_won_where_the_policy_says_take() -> Result<()> {
    let stack = taken_over().await?;
    stack.write(
        "own.yaml",
        &map_with("own", "second", "conflictPolicy: TAKE"),
    )?;
    stack.dm.ok(&["update", "own.yaml"]).await?;
    assert_eq!(value(&stack)?, "second");
    Ok(())
}

#[tokio::test]
async fn a_field_is_left_to_others_where_the_policy_says_yield() -> Result<()> {
    let stack = taken_over().await?;
    stack.write(
        "own.yaml",
        &map_with("own", "second", "conflictPolicy: YIELD"),
    )?;
    stack.dm.ok(&["update", "own.yaml"]).await?;
    assert_eq!(value(&stack)?, "theirs");
    Ok(())
}
