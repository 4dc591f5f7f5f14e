//! The manager that has the store is stopped in order, while callers wait at it and at another one.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use common::api::manager::{CreateDeployment, DeploymentsQuery, WriteQuery};
use common::client::ManagerClient;
use common::model::{Deployment, DeploymentName, DeploymentStatus, DriftPolicy, Namespace};
use e2e::{Stack, until};
use nix::sys::signal::Signal;
use serde_json::Value;

use super::members::shared;
use crate::configurations::pods;

const PATIENCE: Duration = Duration::from_secs(60);
/// Longer than the next manager needs, and shorter than the stopping one waits.
const SLOW: &str = "slow:4s";

#[tokio::test(flavor = "multi_thread")]
async fn waiting_callers_get_their_answers_when_the_owner_is_stopped_and_reads_go_on() -> Result<()>
{
    let mut stack = Stack::start().await?;
    stack.manager.stop().await?;
    let store = format!("etcd:{}", shared().address());
    let mut first = stack.manager_on_etcd("first", &store, &[]).await?;
    let second = stack.manager_on_etcd("second", &store, &[]).await?;
    let (owner, other) = (
        ManagerClient::new(&first.url())?,
        ManagerClient::new(&second.url())?,
    );
    let stopped = async {
        until("both to be applied", PATIENCE, || applying(&other)).await?;
        first.signal(Signal::SIGTERM)?;
        // A connection of its own, to the one that stops, and a read elsewhere: both wait for the next owner.
        let late = ManagerClient::new(&first.url())?;
        let (late, read) = tokio::join!(
            late.deployments(DeploymentsQuery::default()),
            other.deployments(DeploymentsQuery::default())
        );
        ensure!(
            read?.items.len() == 2,
            "the other manager does not know both"
        );
        ensure!(
            late?.items.len() == 2,
            "the stopping manager does not know both"
        );
        anyhow::Ok(())
    };
    let (at_owner, at_other, stopped) = tokio::join!(
        create(&owner, &stack, "at-owner"),
        create(&other, &stack, "at-other"),
        stopped
    );
    stopped?;
    for created in [at_owner?, at_other?] {
        ensure!(
            created.state.status == DeploymentStatus::Deployed,
            "{created:?}"
        );
    }
    until("the first manager to end", PATIENCE, || {
        let ended = first.has_ended();
        async move {
            ensure!(ended?, "it runs");
            Ok(())
        }
    })
    .await?;
    let log = std::fs::read_to_string(second.log_path())?;
    ensure!(log.contains("2 operations go on"), "{log}");
    Ok(())
}

/// Without `Idempotency-Key`, and sent once.
async fn create(manager: &ManagerClient, stack: &Stack, name: &str) -> Result<Deployment> {
    let request = CreateDeployment {
        name: DeploymentName::parse(name)?,
        content: pods(name, SLOW, 1),
        imports: Vec::new(),
        namespace: Some(Namespace::parse(stack.namespace.as_str())?),
        description: String::new(),
        labels: BTreeMap::new(),
        cluster: None,
        drift_policy: DriftPolicy::default(),
        service_account: None,
    };
    let created = manager.create(&request, &WriteQuery::default()).await;
    created.with_context(|| format!("the caller of {name}"))
}

async fn applying(manager: &ManagerClient) -> Result<()> {
    let page = common::api::page::PageQuery::default();
    let operations = manager.operations(None, &page).await?.items;
    let steps: Vec<Value> = operations
        .iter()
        .map(|operation| serde_json::to_value(operation).map(|all| all["progress"]["step"].clone()))
        .collect::<Result<_, _>>()?;
    ensure!(
        steps.len() == 2 && steps.iter().all(|step| step == "applying"),
        "{steps:?}"
    );
    Ok(())
}
