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
    let traces = [("--traces", collector.url())];
    let mut first = stack.manager_on_etcd("first", &store, &traces).await?;
    let second = stack.manager_on_etcd("second", &store, &traces).await?;
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
