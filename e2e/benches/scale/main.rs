//! The manager with a large store: 100,000 deployments of ten instances each.
//!
//! `cargo bench -p e2e --bench scale` (`make scale`); `DM_SCALE` sets another number of deployments. The store is
//! filled through the API: one deployment's backup, repeated under other names, is restored. What is behind the manager
//! are stand-ins that answer at once, so that what is measured is the manager and its store.

mod archive;
mod pages;
mod stand_in;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use common::api::manager::{CreateDeployment, WriteQuery};
use common::api::page::PageQuery;
use common::client::ManagerClient;
use e2e::program::Service;
use e2e::until;
use futures::{StreamExt, TryStreamExt};
use serde_json::json;
use tokio::task::JoinSet;

use archive::{Archive, SEED};

/// Instances of one deployment, each of a type of its own.
const INSTANCES: usize = 10;
const CLIENTS: usize = 32;
/// How long creates are sent as fast as they are accepted.
const PRESSURE: Duration = Duration::from_secs(10);

#[tokio::main]
#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark has no flags of its own"
)]
async fn main() -> Result<()> {
    if !std::env::args().any(|arg| arg == "--bench") {
        return Ok(());
    }
    let count = std::env::var("DM_SCALE").map_or(Ok(100_000), |text| text.parse())?;
    let folder = tempfile::tempdir()?;
    let stand_in = stand_in::start().await?;
    let seed = seed(folder.path(), &stand_in).await?;
    let place = folder.path().join("large");
    std::fs::create_dir(&place)?;
    let store = format!("sled:{}", place.join("store").display());
    let mut manager = start(&place, &store, &stand_in).await?;
    fill(&manager, seed, count).await?;
    starting(&mut manager).await?;
    pages::measure(&manager).await?;
    accepting(&manager).await?;
    println!("memory in the end: {}", memory(&manager).await?);
    verifying(&manager).await?;
    println!("memory after that: {}", memory(&manager).await?);
    manager.stop().await
}

async fn start(folder: &Path, store: &str, stand_in: &str) -> Result<Service> {
    let args = [
        "--store",
        store,
        "--expander-url",
        stand_in,
        "--deployer-url",
        stand_in,
    ];
    Service::start("manager", folder, args.map(str::to_owned).to_vec()).await
}

fn client(manager: &Service) -> Result<ManagerClient> {
    Ok(ManagerClient::new(&manager.url())?)
}

fn creation(name: &str) -> Result<CreateDeployment> {
    let resource = |n| json!({"name": format!("r{n}"), "type": format!("Kind{n}")});
    let resources: Vec<_> = (0..INSTANCES).map(resource).collect();
    let content = json!({"resources": resources}).to_string();
    Ok(serde_json::from_value(
        json!({"name": name, "content": content}),
    )?)
}

/// The backup of a store with one deployment.
async fn seed(folder: &Path, stand_in: &str) -> Result<Vec<String>> {
    let place = folder.join("seed");
    std::fs::create_dir(&place)?;
    // What is kept on a disk is sealed, in a backup too, and each entry for itself.
    let mut manager = start(&place, "memory", stand_in).await?;
    let client = client(&manager)?;
    client
        .create(&creation(SEED)?, &WriteQuery::default())
        .await?;
    let parts: Vec<Bytes> = client.backup().await?.try_collect().await?;
    manager.stop().await?;
    let text = String::from_utf8(parts.concat())?;
    Ok(text.lines().map(str::to_owned).collect())
}

async fn fill(manager: &Service, seed: Vec<String>, count: usize) -> Result<()> {
    let archive = Archive::new(seed, count)?;
    let archive = futures::stream::unfold(archive, async |mut archive| {
        let lines = archive.lines()?;
        Some((Ok(lines), archive))
    });
    let started = Instant::now();
    let restored = client(manager)?.restore(archive.boxed()).await?;
    println!(
        "{count} deployments, {} instances, {} entries restored in {:.0} s; memory {}",
        count * INSTANCES,
        restored.entries,
        started.elapsed().as_secs_f64(),
        memory(manager).await?
    );
    Ok(())
}

async fn starting(manager: &mut Service) -> Result<()> {
    for (how, kill) in [
        ("a stop", false),
        ("kill -9", true),
        ("kill -9 again", true),
    ] {
        match kill {
            true => manager.crash()?,
            false => manager.stop().await?,
        }
        let started = Instant::now();
        manager.again().await?;
        let took = started.elapsed().as_secs_f64();
        println!(
            "started after {how} in {took:.1} s; memory {}",
            memory(manager).await?
        );
    }
    Ok(())
}

async fn memory(manager: &Service) -> Result<String> {
    let metrics = get(&format!("{}/metrics", manager.url())).await?;
    let bytes = metrics
        .lines()
        .find_map(|line| line.strip_prefix("process_resident_memory_bytes "))
        .context("no such metric")?;
    Ok(format!(
        "{:.0} MiB",
        bytes.trim().parse::<f64>()? / 1024.0 / 1024.0
    ))
}

async fn get(url: &str) -> Result<String> {
    let http = common::client::http::builder().no_proxy().build()?;
    Ok(http.get(url).send().await?.text().await?)
}

fn quantiles(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |part: f64| {
        let index = (times.len() as f64 * part) as usize;
        let time = times.get(index.min(times.len().saturating_sub(1)));
        time.map_or(0.0, |time| time.as_secs_f64() * 1000.0)
    };
    format!(
        "p50 {:.1} ms, p99 {:.1} ms of {}",
        at(0.5),
        at(0.99),
        times.len()
    )
}

async fn accepting(manager: &Service) -> Result<()> {
    let api = client(manager)?;
    let mut times = Vec::new();
    for number in 0..200 {
        let request = creation(&format!("one-by-one-{number}"))?;
        let started = Instant::now();
        api.create_async(&request, &WriteQuery::default()).await?;
        times.push(started.elapsed());
    }
    println!("accepting, one after the other: {}", quantiles(times));
    idle(&api).await?;
    let mut clients = JoinSet::new();
    let until = Instant::now() + PRESSURE;
    for client in 0..CLIENTS {
        let api = api.clone();
        clients.spawn(async move { pressed(&api, client, until).await });
    }
    let mut times = Vec::new();
    while let Some(done) = clients.join_next().await {
        times.extend(done??);
    }
    let rate = times.len() as f64 / PRESSURE.as_secs_f64();
    println!(
        "accepted {rate:.0} a second from {CLIENTS} clients: {}",
        quantiles(times)
    );
    let started = Instant::now();
    idle(&api).await?;
    println!(
        "all of them were done {:.1} s later",
        started.elapsed().as_secs_f64()
    );
    Ok(())
}

async fn pressed(api: &ManagerClient, client: usize, until: Instant) -> Result<Vec<Duration>> {
    let mut times = Vec::new();
    while Instant::now() < until {
        let request = creation(&format!("pressed-{client}-{}", times.len()))?;
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

async fn verifying(manager: &Service) -> Result<()> {
    let started = Instant::now();
    let found = client(manager)?.verify().await?;
    ensure!(found.ok, "{:?}", found.problems);
    println!(
        "verified in {:.0} s: {:?}",
        started.elapsed().as_secs_f64(),
        found.checked
    );
    Ok(())
}
