//! Something is killed or goes away while an operation runs: the operation ends as if nothing had been.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use e2e::program::{Service, runs};
use e2e::{Gate, Stack, until};
use nix::sys::signal::{Signal, kill};
use serde_json::Value;

use crate::configurations::pods;

const SOON: Duration = Duration::from_secs(30);

/// Starts a deployment that takes seconds to be ready, and gives its operation.
async fn begin(stack: &Stack) -> Result<String> {
    stack.write("slow.yaml", &pods("slow", "slow:4s", 2))?;
    let begun = stack
        .dm
        .json(&[
            "deploy",
            "slow.yaml",
            "--async",
            "--namespace",
            &stack.namespace,
        ])
        .await?;
    let id = begun["id"].as_str().context("no id")?.to_owned();
    reaches(stack, &id, "applying").await?;
    Ok(id)
}

async fn reaches(stack: &Stack, id: &str, step: &str) -> Result<()> {
    until(&format!("operation {id} to be {step}"), SOON, || async {
        let (_, operation) = stack.get(&format!("/operations/{id}")).await?;
        ensure!(operation["progress"]["step"] == step, "{operation}");
        Ok(())
    })
    .await
}

/// The operation succeeds, its pods are ready, and nothing is left after a delete.
async fn ends_well(stack: &Stack, id: &str) -> Result<()> {
    stack.dm.ok(&["wait", id, "--timeout", "60s"]).await?;
    ensure!(stack.ready_pods()? == 2, "the pods are not ready");
    stack.dm.ok(&["delete", "slow"]).await?;
    ensure!(stack.names("deployments")?.is_empty(), "something is left");
    Ok(())
}

#[tokio::test]
async fn resourcifier_may_die_while_it_waits_for_pods() -> Result<()> {
    let mut stack = Stack::start().await?;
    let id = begin(&stack).await?;
    stack.resourcifier.crash()?;
    stack.resourcifier.again().await?;
    ends_well(&stack, &id).await
}

#[tokio::test]
async fn kubectl_may_be_killed_while_it_works() -> Result<()> {
    let stack = Stack::start().await?;
    let id = begin(&stack).await?;
    let children = stack.resourcifier.children();
    ensure!(!children.is_empty(), "no kubectl runs");
    for child in children {
        // One that ended by itself just now is none to kill.
        let _ = kill(child, Signal::SIGKILL);
    }
    ends_well(&stack, &id).await
}

#[tokio::test]
async fn kubectl_ends_when_resourcifier_is_killed() -> Result<()> {
    let mut stack = Stack::start().await?;
    begin(&stack).await?;
    let children = stack.resourcifier.children();
    ensure!(!children.is_empty(), "no kubectl runs");
    stack.resourcifier.crash()?;
    until("kubectl to end", SOON, || async {
        let left: Vec<_> = children.iter().filter(|child| runs(**child)).collect();
        ensure!(left.is_empty(), "{left:?} still run");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn expandybird_may_die_while_a_template_runs() -> Result<()> {
    let mut stack = Stack::start().await?;
    stack.write(
        "long.py",
        "def GenerateConfig(context):\n    for _ in range(20 * 1000 * 1000): pass\n    return {'resources': [{'name': 'long', 'type': 'ConfigMap'}]}\n",
    )?;
    let begun = stack
        .dm
        .json(&[
            "deploy",
            "long.py",
            "--async",
            "--namespace",
            &stack.namespace,
        ])
        .await?;
    let id = begun["id"].as_str().context("no id")?;
    reaches(&stack, id, "expanding").await?;
    stack.expandybird.crash()?;
    stack.expandybird.again().await?;
    stack.dm.ok(&["wait", id, "--timeout", "60s"]).await?;
    assert_eq!(stack.names("configmaps")?, ["kube-root-ca.crt", "long"]);
    Ok(())
}

#[tokio::test]
async fn the_api_server_may_be_away_while_an_operation_runs() -> Result<()> {
    let (stack, gate) = Stack::behind_gate().await?;
    let id = begin(&stack).await?;
    gate.shut();
    until("the API server to be missed", SOON, || async {
        let (status, body) = stack.get("/readyz").await?;
        ensure!(status == 503, "{body}");
        Ok(())
    })
    .await?;
    gate.open();
    ends_well(&stack, &id).await
}

/// The minute is the promise, and so it is waited for.
#[tokio::test]
async fn the_api_server_may_be_gone_for_a_minute() -> Result<()> {
    let (stack, gate) = Stack::behind_gate().await?;
    let id = begin(&stack).await?;
    gate.shut();
    tokio::time::sleep(Duration::from_secs(60)).await;
    let (_, operation) = stack.get(&format!("/operations/{id}")).await?;
    ensure!(operation["status"] == "RUNNING", "{operation}");
    gate.open();
    ends_well(&stack, &id).await
}

#[tokio::test]
async fn without_the_api_server_a_write_says_what_is_away() -> Result<()> {
    let (stack, gate) = Stack::behind_gate().await?;
    gate.shut();
    stack.write("slow.yaml", &pods("slow", "well", 1))?;
    let deploy = ["deploy", "slow.yaml", "--namespace", &stack.namespace];
    let error = stack.dm.fails(5, &deploy).await?;
    assert!(error.contains("API server"), "{error}");
    gate.open();
    stack.ready().await?;
    stack.dm.run(&["delete", "slow"]).await?;
    stack.dm.ok(&deploy).await?;
    Ok(())
}

#[tokio::test]
async fn dm_follows_on_when_its_connections_are_cut() -> Result<()> {
    let stack = Stack::start().await?;
    let gate = Gate::before(stack.manager.address()).await?;
    let id = begin(&stack).await?;
    let dm = stack.dm.at(format!("http://{}", gate.address()));
    let mut following = dm.start(&["wait", &id])?;
    following.says("slow: applying").await?;
    gate.shut();
    following.says("still trying").await?;
    gate.open();
    let said = following.ends().await?;
    assert_eq!(said.code, 0, "{said:?}");
    Ok(())
}

#[tokio::test]
async fn dm_follows_on_over_a_restart_of_the_manager() -> Result<()> {
    let mut stack = Stack::start().await?;
    let id = begin(&stack).await?;
    let mut following = stack.dm.start(&["wait", &id])?;
    following.says("slow: applying").await?;
    stack.manager.crash()?;
    following.says("still trying").await?;
    stack.manager.again().await?;
    let said = following.ends().await?;
    assert_eq!(said.code, 0, "{said:?}");
    Ok(())
}

#[tokio::test]
async fn a_second_manager_on_the_same_store_is_refused_by_name() -> Result<()> {
    let stack = Stack::start().await?;
    let folder = stack.folder().join("second");
    std::fs::create_dir(&folder)?;
    let store = format!("sled:{}", stack.store().display());
    let args = vec!["--store".to_owned(), store];
    let Err(error) = Service::start("manager", &folder, args).await else {
        anyhow::bail!("two managers run on one store");
    };
    let error = format!("{error:#}");
    assert!(
        error.contains("store") && error.contains("manager"),
        "{error}"
    );
    let (_, list): (_, Value) = stack.get("/deployments").await?;
    assert!(list["items"].is_array(), "the first goes on: {list}");
    Ok(())
}
