//! The manager with a large store: 100,000 deployments of ten instances each.
//!
//! `cargo bench -p e2e --bench scale` (`make scale`); `DM_SCALE` sets another number of deployments, and
//! `DM_SCALE_STORE=etcd` (`make scale STORE=etcd`) another store: three members on the same machine. The store is
//! filled through the API: one deployment's backup, repeated under other names, is restored. What is behind the manager
//! are stand-ins that answer at once, so that what is measured is the manager and its store.

mod accepting;
mod archive;
mod browsing;
#[expect(
    clippy::unwrap_used,
    dead_code,
    reason = "the store's own tests have it"
)]
#[path = "../../../manager/tests/etcd_members/mod.rs"]
mod members;
mod pages;
mod stand_in;
mod store;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use common::api::manager::{CreateDeployment, WriteQuery};
use common::client::ManagerClient;
use e2e::program::Service;
use futures::{StreamExt, TryStreamExt};
use serde_json::json;

use archive::{Archive, SEED};
use store::Store;

/// Instances of one deployment, each of a type of its own.
const INSTANCES: usize = 10;
/// Callers at once: a team, and a crowd.
const CLIENTS: [usize; 2] = [8, 32];

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
    let name = std::env::var("DM_SCALE_STORE").unwrap_or_else(|_| "sled".to_owned());
    println!("the store: {name}");
    let store = Store::new(&name)?;
    let place = folder.path().join("large");
    std::fs::create_dir(&place)?;
    let mut manager = store.manager(&place, &stand_in).await?;
    fill(&manager, seed, count).await?;
    starting(&mut manager).await?;
    browsing::measure(&manager).await?;
    pages::measure(&manager).await?;
    if let Some(mut waiting) = store.waiting(&place, &stand_in).await? {
        println!("asked of a manager that waits for the store, beside the one that has it:");
        pages::measure(&waiting).await?;
        waiting.stop().await?;
    }
    accepting::measure(&client(&manager)?).await?;
    println!("memory in the end: {}", memory(&manager).await?);
    backing_up(&manager).await?;
    verifying(&manager).await?;
    println!("memory after that: {}", memory(&manager).await?);
    manager.stop().await
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
    let mut manager = store::start(&place, "memory", stand_in, &[]).await?;
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
        store::ready(manager).await?;
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

async fn backing_up(manager: &Service) -> Result<()> {
    let started = Instant::now();
    let mut parts = client(manager)?.backup().await?;
    let mut bytes = 0;
    while let Some(part) = parts.try_next().await? {
        bytes += part.len();
    }
    println!(
        "backed up in {:.0} s: {} MiB",
        started.elapsed().as_secs_f64(),
        bytes / 1024 / 1024
    );
    Ok(())
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
