//! Each service alone goes away and comes back: the others say what they miss, and recover by themselves.

use anyhow::{Result, ensure};
use e2e::{Stack, until};
use std::time::Duration;

use crate::lifecycle::deploy_web;

/// Waits until `/readyz` says 503 and names the one that is down, and only that one.
async fn missed(stack: &Stack, name: &str) -> Result<()> {
    until(
        "readyz to miss a service",
        Duration::from_secs(20),
        || async {
            let (status, body) = stack.get("/readyz").await?;
            ensure!(status == 503, "{status} {body}");
            let checks = body["checks"].as_array().cloned().unwrap_or_default();
            let down: Vec<_> = checks
                .iter()
                .filter(|check| check["ready"] == false)
                .map(|check| check["name"].clone())
                .collect();
            ensure!(down == [name], "{body}");
            Ok(())
        },
    )
    .await
}

#[tokio::test]
async fn without_expandybird_deployments_can_be_read_but_not_made() -> Result<()> {
    let mut stack = Stack::start().await?;
    deploy_web(&stack).await?;
    stack.expandybird.crash()?;
    missed(&stack, "expandybird").await?;

    stack.dm.ok(&["get", "web"]).await?;
    let error = stack
        .dm
        .fails(
            5,
            &[
                "deploy",
                "replicatedservice:v1",
                "--name",
                "late",
                "--namespace",
                &stack.namespace,
            ],
        )
        .await?;
    assert!(error.contains("expandybird"), "{error}");
    stack.dm.fails(3, &["get", "late"]).await?;

    stack.expandybird.again().await?;
    stack.ready().await?;
    stack
        .deploy(&["replicatedservice:v1", "--name", "late"])
        .await?;
    Ok(())
}

#[tokio::test]
async fn without_resourcifier_a_write_fails_by_name_leaves_nothing_and_can_be_repeated()
-> Result<()> {
    let mut stack = Stack::start().await?;
    stack.resourcifier.crash()?;
    missed(&stack, "resourcifier").await?;

    let error = stack
        .dm
        .fails(
            5,
            &[
                "deploy",
                "replicatedservice:v1",
                "--name",
                "web",
                "--namespace",
                &stack.namespace,
            ],
        )
        .await?;
    assert!(error.contains("resourcifier"), "{error}");

    stack.resourcifier.again().await?;
    stack.ready().await?;
    stack
        .deploy(&["replicatedservice:v1", "--name", "web"])
        .await?;
    assert_eq!(stack.ready_pods()?, 1);
    stack.dm.ok(&["delete", "web"]).await?;
    assert_eq!(stack.names("deployments")?, Vec::<String>::new());
    Ok(())
}

#[tokio::test]
async fn without_the_manager_dm_says_where_it_looked() -> Result<()> {
    let mut stack = Stack::start().await?;
    stack.manager.crash()?;
    let error = stack.dm.fails(5, &["list"]).await?;
    assert!(
        error.contains(&stack.manager.url()) && error.contains("DM_SERVICE"),
        "{error}"
    );
    stack.manager.again().await?;
    stack.ready().await?;
    stack.dm.ok(&["list"]).await?;
    Ok(())
}
