//! The manager ends between and amid what users do: what it acknowledged is there, what it began is finished.

use std::time::Duration;

use anyhow::{Result, ensure};
use e2e::{Stack, until};

use crate::lifecycle::{deploy_web, grow_web, instances};

async fn stop_and_start(stack: &mut Stack) -> Result<()> {
    stack.manager.stop().await?;
    stack.manager.again().await?;
    stack.ready().await
}

async fn kill_and_start(stack: &mut Stack) -> Result<()> {
    stack.manager.crash()?;
    stack.manager.again().await?;
    stack.ready().await
}

#[tokio::test]
async fn nothing_acknowledged_is_lost_between_stop_kill_and_start() -> Result<()> {
    let mut stack = Stack::start().await?;
    deploy_web(&stack).await?;
    let before = stack.dm.json(&["get", "web"]).await?;
    kill_and_start(&mut stack).await?;
    assert_eq!(stack.dm.json(&["get", "web"]).await?, before);
    assert_eq!(instances(&stack, "all").await?.len(), 4);

    grow_web(&stack).await?;
    let after = stack.dm.json(&["manifest", "web"]).await?;
    kill_and_start(&mut stack).await?;
    assert_eq!(stack.dm.json(&["manifest", "web"]).await?, after);
    stop_and_start(&mut stack).await?;
    assert_eq!(stack.dm.json(&["manifest", "web"]).await?, after);
    assert_eq!(stack.ready_pods()?, 5);

    stack.dm.ok(&["delete", "web"]).await?;
    kill_and_start(&mut stack).await?;
    stack.dm.fails(3, &["get", "web"]).await?;
    assert_eq!(stack.names("deployments")?, Vec::<String>::new());
    Ok(())
}

#[tokio::test]
async fn an_operation_that_a_crash_cut_off_is_finished_after_the_restart() -> Result<()> {
    let mut stack = Stack::start().await?;
    let args = [
        "deploy",
        "replicatedservice:v1",
        "--name",
        "web",
        "--properties",
        "replicas=3",
        "--async",
        "--namespace",
        &stack.namespace,
    ];
    let operation = stack.dm.json(&args).await?;
    kill_and_start(&mut stack).await?;

    let id = operation["id"].as_str().unwrap_or_default().to_owned();
    until(
        "the operation to be done",
        Duration::from_secs(60),
        || async {
            let (_, operation) = stack.get(&format!("/operations/{id}")).await?;
            ensure!(operation["status"] == "DONE", "{operation}");
            ensure!(operation["error"].is_null(), "{operation}");
            Ok(())
        },
    )
    .await?;
    assert_eq!(stack.ready_pods()?, 3);
    stack.dm.ok(&["delete", "web"]).await?;
    assert_eq!(stack.names("deployments")?, Vec::<String>::new());
    Ok(())
}
