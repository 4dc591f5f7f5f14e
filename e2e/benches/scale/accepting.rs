//! Operations that are accepted: one by one, and as fast as they are.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use common::api::manager::WriteQuery;
use common::api::page::PageQuery;
use common::client::ManagerClient;
use e2e::until;
use tokio::task::JoinSet;

use super::{CLIENTS, creation, quantiles};

/// How long creates are sent as fast as they are accepted.
const PRESSURE: Duration = Duration::from_secs(10);

/// Prints how long it takes, and how many are accepted in a second.
pub async fn measure(api: &ManagerClient) -> Result<()> {
    let mut times = Vec::new();
    for number in 0..200 {
        let request = creation(&format!("one-by-one-{number}"))?;
        let started = Instant::now();
        api.create_async(&request, &WriteQuery::default()).await?;
        times.push(started.elapsed());
    }
    println!("accepting, one after the other: {}", quantiles(times));
    idle(api).await?;
    for clients in CLIENTS {
        pressed(api, clients).await?;
    }
    Ok(())
}

async fn pressed(api: &ManagerClient, clients: usize) -> Result<()> {
    let mut all = JoinSet::new();
    let until = Instant::now() + PRESSURE;
    for client in 0..clients {
        let (api, name) = (api.clone(), format!("pressed-{clients}-{client}"));
        all.spawn(async move { one_by_one(&api, &name, until).await });
    }
    let mut times = Vec::new();
    while let Some(done) = all.join_next().await {
        times.extend(done??);
    }
    let rate = times.len() as f64 / PRESSURE.as_secs_f64();
    println!(
        "accepted {rate:.0} a second from {clients} clients: {}",
        quantiles(times)
    );
    let started = Instant::now();
    idle(api).await?;
    println!(
        "all of them were done {:.1} s later",
        started.elapsed().as_secs_f64()
    );
    Ok(())
}

async fn one_by_one(api: &ManagerClient, name: &str, until: Instant) -> Result<Vec<Duration>> {
    let mut times = Vec::new();
    while Instant::now() < until {
        let request = creation(&format!("{name}-{}", times.len()))?;
        let started = Instant::now();
        api.create_async(&request, &WriteQuery::default()).await?;
        times.push(started.elapsed());
    }
    Ok(times)
}

/// Operations are listed latest first: nothing is left to do once none of a page of them runs.
async fn idle(api: &ManagerClient) -> Result<()> {
    until(
        "the operations to be done",
        Duration::from_secs(600),
        || async {
            let page = PageQuery {
                limit: Some(1000),
                page_token: None,
            };
            let operations = api.operations(None, &page).await?.items;
            let running = operations
                .iter()
                .filter(|operation| operation.end_time.is_none());
            let running = running.count();
            ensure!(running == 0, "{running} run");
            Ok(())
        },
    )
    .await
}
