//! A service is killed while a hook runs: the hook goes on, and runs once.

use std::time::Duration;

use anyhow::{Result, ensure};
use e2e::{Stack, until};

use super::chart::Chart;

const PATIENCE: Duration = Duration::from_secs(90);

/// Deploys with a hook that takes its time, up to the moment in which it runs.
async fn begun(stack: &Stack) -> Result<String> {
    let chart = Chart::write(stack)?;
    let args = ["--set", "prepare=slow:6s", "--async", "-o", "json"];
    let operation: serde_json::Value = serde_json::from_str(&chart.deploy("one", &args).await?)?;
    until("the hook to run", PATIENCE, || async {
        ensure!(stack.names("jobs")? == ["one-prepare"], "no job");
        Ok(())
    })
    .await?;
    // The definition stays for the rest of the test.
    std::mem::forget(chart);
    Ok(operation["id"].as_str().unwrap_or_default().to_owned())
}

async fn finished(stack: &Stack, operation: &str) -> Result<()> {
    until("the operation to be done", PATIENCE, || async {
        let (_, operation) = stack.get(&format!("/operations/{operation}")).await?;
        ensure!(operation["status"] == "DONE", "{operation}");
        Ok(())
    })
    .await?;
    let (_, operation) = stack.get(&format!("/operations/{operation}")).await?;
    ensure!(operation["error"].is_null(), "{operation}");
    let chart = Chart::write(stack)?;
    assert_eq!(
        (chart.runs("one-prepare")?, chart.runs("one-announce")?),
        (1, 1)
    );
    assert_eq!(chart.state("one")?["revision"], "1");
    stack.dm.ok(&["delete", "one"]).await?;
    assert_eq!(chart.runs("one-cleanup")?, 1);
    chart.is_gone("one")
}

#[tokio::test]
async fn a_hook_runs_once_though_the_manager_is_killed_while_it_runs() -> Result<()> {
    let mut stack = Stack::start().await?;
    let operation = begun(&stack).await?;
    stack.manager.crash()?;
    stack.manager.again().await?;
    stack.ready().await?;
    finished(&stack, &operation).await
}

#[tokio::test]
async fn a_hook_runs_once_though_resourcifier_is_killed_while_it_runs() -> Result<()> {
    let mut stack = Stack::start().await?;
    let operation = begun(&stack).await?;
    stack.resourcifier.crash()?;
    stack.resourcifier.again().await?;
    finished(&stack, &operation).await
}
