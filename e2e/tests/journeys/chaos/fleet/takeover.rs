//! How long callers of the other managers wait when the one that has the store is gone. Prints figures.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use common::api::manager::DeploymentsQuery;
use common::api::page::PageQuery;
use common::client::ManagerClient;
use e2e::until;
use nix::sys::signal::Signal;
use serde_json::Value;

use super::fault::MANAGERS;
use super::parts::Fleet;

/// Of each kind.
const TIMES: usize = 10;
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Stopped,
    Killed,
    Paused,
    KilledWithLeader,
    PausedWithLeader,
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes and prints figures: make takeovers"]
async fn how_long_callers_wait_for_the_next_owner() -> Result<()> {
    let fleet = Fleet::start().await?;
    for end in [
        End::Stopped,
        End::Killed,
        End::Paused,
        End::KilledWithLeader,
        End::PausedWithLeader,
    ] {
        let (mut reads, mut waits) = (Vec::new(), Vec::new());
        for _ in 0..TIMES {
            let (read, wait) = taken_over(&fleet, end).await?;
            reads.push(read);
            waits.push(wait);
        }
        println!("{end:?}: {} s, reads {} s", shown(waits), shown(reads));
    }
    Ok(())
}

fn shown(mut waits: Vec<Duration>) -> String {
    waits.sort();
    let seconds = waits.iter().map(Duration::as_secs_f32);
    let seconds: Vec<_> = seconds.map(|seconds| format!("{seconds:.1}")).collect();
    seconds.join(" ")
}

/// From the end of the owner to the answers of another manager to callers that asked then: for deployments, which it
/// reads by itself, and for operations, which it asks the next owner for.
async fn taken_over(fleet: &Fleet, end: End) -> Result<(Duration, Duration)> {
    let owner = owner(fleet).await?;
    let leader = leader(fleet).await?;
    let other = &fleet.managers[(owner + 1) % MANAGERS];
    let client = ManagerClient::new(&other.url)?;
    let mut service = fleet.managers[owner].service.lock().await;
    let begun = Instant::now();
    match end {
        End::Stopped => service.signal(Signal::SIGTERM)?,
        End::Killed | End::KilledWithLeader => service.crash()?,
        End::Paused | End::PausedWithLeader => service.signal(Signal::SIGSTOP)?,
    }
    match end {
        End::KilledWithLeader => fleet.members.lock().await.kill(leader),
        End::PausedWithLeader => fleet.members.lock().await.signal(leader, Signal::SIGSTOP),
        _ => {}
    }
    let read = async {
        until("a read", PATIENCE, || async {
            Ok(client.deployments(DeploymentsQuery::default()).await?)
        })
        .await?;
        anyhow::Ok(begun.elapsed())
    };
    let wait = async {
        until("an answer", PATIENCE, || async {
            Ok(client.operations(None, &PageQuery::default()).await?)
        })
        .await?;
        anyhow::Ok(begun.elapsed())
    };
    let waits = tokio::try_join!(read, wait)?;
    match end {
        End::KilledWithLeader => fleet.members.lock().await.restart(leader),
        End::PausedWithLeader => fleet.members.lock().await.signal(leader, Signal::SIGCONT),
        _ => {}
    }
    if matches!(end, End::Paused | End::PausedWithLeader) {
        service.signal(Signal::SIGCONT)?;
    }
    if matches!(end, End::Stopped | End::Paused | End::PausedWithLeader) {
        until("the previous owner to end", PATIENCE, || {
            let ended = service.has_ended();
            async move {
                ensure!(ended?, "it runs");
                Ok(())
            }
        })
        .await?;
    }
    service.again().await?;
    drop(service);
    fleet.heal().await?;
    Ok(waits)
}

/// The manager that has the store.
async fn owner(fleet: &Fleet) -> Result<usize> {
    let http = common::client::http::builder().no_proxy().build()?;
    for (number, manager) in fleet.managers.iter().enumerate() {
        let metrics = http.get(format!("{}/metrics", manager.url)).send().await?;
        let metrics = metrics.text().await?;
        if metrics.lines().any(|line| line == "dm_store_owner 1") {
            return Ok(number);
        }
    }
    anyhow::bail!("no manager has the store")
}

/// The member that leads.
async fn leader(fleet: &Fleet) -> Result<usize> {
    let http = common::client::http::builder().no_proxy().build()?;
    let addresses = fleet.members.lock().await.address();
    let (addresses, _) = addresses.split_once("/test").context("no prefix")?;
    for (number, address) in addresses.split(',').enumerate() {
        let status = http.post(format!("{address}/v3/maintenance/status"));
        let status: Value = status.body("{}").send().await?.json().await?;
        if status["leader"] == status["header"]["member_id"] {
            return Ok(number);
        }
    }
    anyhow::bail!("no member leads")
}
