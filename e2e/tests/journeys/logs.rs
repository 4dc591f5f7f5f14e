//! `dm logs`: what containers wrote, through the manager and the API server from their node.

use anyhow::{Context as _, Result, ensure};
use e2e::Stack;

use crate::configurations::pods;

#[tokio::test]
async fn followed_logs_go_on_with_the_lines_of_new_pods() -> Result<()> {
    let stack = Stack::start().await?;
    stack.write("web.yaml", &pods("web", "well", 1))?;
    stack.deploy(&["web.yaml"]).await?;
    let mut logs = stack.dm.start(&["logs", "web", "web", "-f"])?;
    let mut lines = logs.prints()?;
    let first = lines.next_line().await?.context("no line")?;
    ensure!(
        first.ends_with("/main] container main starts (simulated)"),
        "{first}"
    );
    stack.write("web.yaml", &pods("web", "well", 2))?;
    stack.dm.ok(&["update", "web.yaml"]).await?;
    let second = lines.next_line().await?.context("no second line")?;
    ensure!(second.starts_with("[web-") && second != first, "{second}");
    Ok(())
}

#[tokio::test]
async fn all_lines_of_one_instant_are_shown() -> Result<()> {
    let stack = Stack::start().await?;
    stack.write("web.yaml", &pods("web", "crash", 1))?;
    let deploy = ["deploy", "web.yaml", "--namespace", &stack.namespace];
    let said = stack.dm.fails(1, &deploy).await?;
    ensure!(said.contains("ends with exit code 1"), "{said}");
    let logs = stack.dm.ok(&["logs", "web", "--no-prefix"]).await?;
    let lines = ["starts", "ends with exit code 1"];
    let lines = lines.map(|what| format!("container main {what} (simulated)\n"));
    assert_eq!(logs, lines.concat());
    Ok(())
}

#[tokio::test]
async fn a_container_that_never_ran_has_no_log_and_the_note_says_why() -> Result<()> {
    let stack = Stack::start().await?;
    stack.write("web.yaml", &pods("web", "no-image", 1))?;
    stack
        .dm
        .fails(1, &["deploy", "web.yaml", "--namespace", &stack.namespace])
        .await?;
    let said = stack.dm.fails(1, &["logs", "web"]).await?;
    ensure!(said.contains("ImagePullBackOff"), "{said}");
    Ok(())
}
