//! The trace of an operation when another manager on the same etcd goes on with it.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use common::client::ManagerClient;
use common::model::{OperationId, OperationStatus};
use e2e::program::Service;
use e2e::{Collector, Stack, until};

use super::members::shared;
use crate::traces::{CONFIGURATION, goes_on};

/// A lease ends, and spans are sent every few seconds.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn the_trace_of_an_operation_goes_on_at_the_manager_that_takes_over() -> Result<()> {
    let collector = Collector::serve().await?;
    let mut stack = Stack::traced(&collector.url()).await?;
    stack.manager.stop().await?;
    stack.write("fine.yaml", CONFIGURATION)?;
    let store = format!("etcd:{}", shared().address());
    let mut first = manager(&stack, "first", &store, &collector).await?;
    let second = manager(&stack, "second", &store, &collector).await?;
    // The operation cannot end before the manager does that has it.
    stack.resourcifier.crash()?;
    let dm = stack.dm.at(second.url()).with_collector(collector.url());
    let namespace = ["--namespace", stack.namespace.as_str()];
    let deploy = [&["deploy", "fine.yaml", "--async"], &namespace[..]].concat();
    let operation = dm.json(&deploy).await?;
    first.crash()?;
    stack.resourcifier.again().await?;
    let id = operation["id"].as_str().context("no id")?;
    done(&second, &OperationId::parse(id)?).await?;
    goes_on(&collector).await
}

/// A manager on the store, ready.
async fn manager(stack: &Stack, name: &str, store: &str, collector: &Collector) -> Result<Service> {
    let folder = stack.folder().join(name);
    std::fs::create_dir(&folder)?;
    let key = stack.folder().join("store.key").display().to_string();
    let args = [
        ("--store", store.to_owned()),
        ("--credential-key", key),
        ("--expander-url", stack.expandybird.url()),
        ("--deployer-url", stack.resourcifier.url()),
        ("--traces", collector.url()),
    ];
    let args = args.into_iter();
    let args = args.flat_map(|(flag, value)| [flag.to_owned(), value]);
    let manager = Service::start("manager", &folder, args.collect()).await?;
    let client = ManagerClient::new(&manager.url())?;
    until("a manager to be ready", PATIENCE, || async {
        let report = client.readiness().await?;
        ensure!(report.ready, "{report:?}");
        Ok(())
    })
    .await?;
    Ok(manager)
}

async fn done(manager: &Service, id: &OperationId) -> Result<()> {
    let client = ManagerClient::new(&manager.url())?;
    until("the operation to be done", PATIENCE, || async {
        let operation = client.operation(id).await?;
        ensure!(operation.status == OperationStatus::Done, "{operation:?}");
        ensure!(operation.error.is_none(), "{operation:?}");
        Ok(())
    })
    .await
}
