//! What the page asks for while one person looks for deployments: one request after the other, as the page sends them.

use std::time::Instant;

use anyhow::Result;
use e2e::program::Service;

use super::pages::Client;
use super::quantiles;

/// How often each is asked.
const TIMES: usize = 50;
/// Rows of the page's list, as in `manager/ui/src/views/deployments.tsx`.
const LISTS: [(&str, &str); 7] = [
    ("the first page", "/deployments?limit=50"),
    ("a search that finds few", "/deployments?q=99999&limit=50"),
    (
        "a search that finds nine of ten",
        "/deployments?q=seed-0&limit=50",
    ),
    (
        "those with a state that none has",
        "/deployments?status=Failed&limit=50",
    ),
    (
        "those with a label that none has",
        "/deployments?labelSelector=tier%3Dfront&limit=50",
    ),
    (
        "the latest changes",
        "/deployments?orderBy=modifiedAt&limit=50",
    ),
    ("the counts by state", "/deployments?limit=1&counts=true"),
];

/// Prints the first answer of the manager, which reads all deployments, and the times of each list.
pub async fn measure(manager: &Service) -> Result<()> {
    let mut client = Client::new(manager.address()).await?;
    let started = Instant::now();
    client.get("/deployments?limit=1&counts=true").await?;
    println!(
        "the first look at the counts after a start: {:.0} ms",
        started.elapsed().as_secs_f64() * 1e3
    );
    for (what, list) in LISTS {
        let spent = manager.processor_time()?;
        let mut times = Vec::with_capacity(TIMES);
        for _ in 0..TIMES {
            let started = Instant::now();
            client.get(list).await?;
            times.push(started.elapsed());
        }
        let spent = manager.processor_time()? - spent;
        println!(
            "{what}, {list}: {:.1} ms of the manager's processor time; {}",
            spent.as_secs_f64() * 1e3 / TIMES as f64,
            quantiles(times),
        );
    }
    Ok(())
}
