//! Machines are drained one after the other, while somebody deploys all the time.
//!
//! ```text
//! dm deploy ──► one address ──► a manager that accepts        drain ──SIGTERM, start──► each manager in turn
//! ```

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail, ensure};
use e2e::{Loopback, Stack};
use futures::FutureExt as _;
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;

use super::parts::Fleet;

/// How often each manager is replaced.
const ROUNDS: usize = 2;

#[tokio::test(flavor = "multi_thread")]
async fn no_deploy_fails_while_each_manager_is_stopped_and_replaced() -> Result<()> {
    let mut fleet = Fleet::start().await?;
    let managers = addresses(&fleet).await;
    let turn = AtomicUsize::new(0);
    let balancer = Loopback::serve(move |client| {
        let first = turn.fetch_add(1, Ordering::Relaxed);
        balanced(client, managers.clone(), first).boxed()
    })
    .await?;
    let one_address = format!("http://{}", balancer.address());
    fleet.stack.dm = fleet.stack.dm.at(one_address);
    let drained = drained(&fleet);
    let deployed = tokio::select! {
        deployed = deploys(&fleet.stack, drained) => deployed?,
        error = fleet.supervise(true) => return Err(error),
    };
    ensure!(
        deployed > ROUNDS,
        "only {deployed} deploys, and nothing is proved"
    );
    let list = fleet.stack.dm.json(&["list"]).await?;
    let all = list["items"].as_array().context("no list")?;
    assert_eq!(all.len(), deployed);
    let all_are = |status| all.iter().all(|one| one["state"]["status"] == status);
    ensure!(all_are("Deployed"), "{list:#}");
    assert_eq!(fleet.stack.names("configmaps")?.len(), deployed + 1);
    Ok(())
}

/// Deploys one after the other until all is drained, and once more. Gives how many there are.
async fn deploys(stack: &Stack, drained: impl Future<Output = Result<()>>) -> Result<usize> {
    let mut drained = std::pin::pin!(drained.fuse());
    let (mut count, mut goes_on) = (0, true);
    while goes_on {
        let name = format!("deployed-{count}");
        let content = format!(
            "resources:\n- name: {name}\n  type: ConfigMap\n  properties: {{data: {{number: '{count}'}}}}\n"
        );
        let file = format!("{name}.yaml");
        stack.write(&file, &content)?;
        let file = [file.as_str()];
        let mut deploy = std::pin::pin!(stack.deploy(&file).fuse());
        tokio::select! {
            deployed = &mut deploy => drop(deployed?),
            done = &mut drained, if goes_on => {
                done?;
                goes_on = false;
                deploy.await?;
            }
        }
        count += 1;
    }
    Ok(count)
}

/// Each manager is stopped in order, and another one is started in its place. Then comes the next one.
async fn drained(fleet: &Fleet) -> Result<()> {
    for _ in 0..ROUNDS {
        for manager in &fleet.managers {
            let mut service = manager.service.lock().await;
            service.stop().await?;
            service.again().await?;
            drop(service);
            manager.ready().await?;
        }
    }
    Ok(())
}

async fn addresses(fleet: &Fleet) -> Vec<SocketAddr> {
    let mut addresses = Vec::new();
    for manager in &fleet.managers {
        addresses.push(manager.service.lock().await.address());
    }
    addresses
}

/// Carries a connection to the first manager that accepts, as a balancer does.
async fn balanced(mut client: TcpStream, managers: Vec<SocketAddr>, first: usize) -> Result<()> {
    let each = managers.iter().cycle().skip(first % managers.len());
    for manager in each.take(managers.len()) {
        if let Ok(mut server) = TcpStream::connect(manager).await {
            copy_bidirectional(&mut client, &mut server).await?;
            return Ok(());
        }
    }
    bail!("no manager accepts");
}
