//! Many clients at once, a tenth of them hostile: the honest ones see no error, and the memory stays where it is.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::services::{PATIENCE, Services};

const CLIENTS: usize = 500;
/// Between two requests of a client: people and scripts do something with what they get.
const PAUSE: Duration = Duration::from_millis(500);
/// What all three may have more in the second half than in the first: the allocator's share in it is not ours.
const GROWTH: f64 = 1.3;

#[tokio::test(flavor = "multi_thread")]
async fn a_short_mixed_load_is_borne() -> Result<()> {
    soak(Duration::from_secs(10)).await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "`make soak`: ten minutes, or DM_SOAK_SECONDS"]
#[expect(clippy::disallowed_methods, reason = "a test has no flags of its own")]
async fn a_long_mixed_load_is_borne() -> Result<()> {
    let seconds = std::env::var("DM_SOAK_SECONDS").unwrap_or_else(|_| "600".to_owned());
    soak(Duration::from_secs(
        seconds.parse().context("DM_SOAK_SECONDS")?,
    ))
    .await
}

async fn soak(time: Duration) -> Result<()> {
    let services = Services::start().await?;
    let end = Instant::now() + time;
    let http = common::client::http::builder().no_proxy().build()?;
    let (url, address) = (services.manager.url(), services.manager.address());
    let honest = (0..CLIENTS).filter(|n| n % 10 != 0);
    let honest: Vec<_> = honest
        .map(|n| tokio::spawn(ask(http.clone(), url.clone(), n, end)))
        .collect();
    let hostile = (0..CLIENTS).filter(|n| n % 10 == 0);
    let hostile: Vec<_> = hostile
        .map(|n| tokio::spawn(harm(address, n, end)))
        .collect();
    let memory = watch(&services, time, end).await;
    let mut answered = 0;
    for client in honest {
        answered += client.await??;
    }
    for client in hostile {
        client.abort();
    }
    services.serve().await?;
    let memory = memory?;
    println!("{answered} honest requests answered, none refused; MiB in turn: {memory:?}");
    let (first, second) = memory.split_at(memory.len() / 2);
    let most = |half: &[usize]| half.iter().copied().max().unwrap_or_default();
    ensure!(
        (most(second) as f64) <= most(first) as f64 * GROWTH,
        "memory grew: {memory:?}"
    );
    Ok(())
}

/// Reads and expands until the end; the number of its requests. Any answer but a good one is an error.
async fn ask(http: reqwest::Client, url: String, n: usize, end: Instant) -> Result<usize> {
    let mut answered = 0;
    while Instant::now() < end {
        let request = match (n + answered) % 3 {
            0 => http
                .post(format!("{url}/expand"))
                .json(&json!({"name": "soak", "content": "resources: [{name: a, type: Service}]"})),
            1 => http.get(format!("{url}/deployments")),
            _ => http.get(format!("{url}/registries")),
        };
        let answer = request.timeout(PATIENCE).send().await?;
        let status = answer.status();
        let text = answer.text().await?;
        ensure!(status == 200, "client {n}: {status}: {text}");
        answered += 1;
        tokio::time::sleep(PAUSE).await;
    }
    Ok(answered)
}

/// One kind of harm for each hostile client, until it is stopped. Whatever becomes of it is right.
async fn harm(address: SocketAddr, n: usize, end: Instant) {
    let post = "POST /expand HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    let harms = [
        "GET /deployments HTTP/1.1\r\nHost:".to_owned(),
        format!("{post}Content-Length: 60000000\r\n\r\n{{"),
        format!("{post}Content-Encoding: gzip\r\nContent-Length: 9\r\n\r\nxxxxxxxxx"),
        format!("{post}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{{}}"),
        format!(
            "GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "..%2f".repeat(3000)
        ),
        format!(
            "{post}Content-Length: 1000000\r\n\r\n{}",
            "[".repeat(1_000_000)
        ),
    ];
    let harm = &harms[n / 10 % harms.len()];
    while Instant::now() < end {
        if let Ok(mut stream) = TcpStream::connect(address).await {
            let _ = stream.write_all(harm.as_bytes()).await;
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// The memory of all three, in MiB, twenty times over.
async fn watch(services: &Services, time: Duration, end: Instant) -> Result<Vec<usize>> {
    let mut seen = Vec::new();
    while Instant::now() < end {
        tokio::time::sleep(time / 20).await;
        let parts = [
            services.manager.memory()?,
            services.expandybird.memory()?,
            services.resourcifier.memory()?,
        ];
        seen.push(parts.iter().sum::<usize>() / (1024 * 1024));
    }
    Ok(seen)
}
