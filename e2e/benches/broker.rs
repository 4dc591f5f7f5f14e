//! The service broker under platforms: its catalog, many instances at once, and polls with many instances in the store.
//!
//! `make bench` builds in release mode and runs this. `DM_BROKER_INSTANCES` sets how many instances are in the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use e2e::broker::request;
use e2e::{Broker, Stack, until};
use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};

const MINUTE: Duration = Duration::from_secs(60);
/// Requests of one figure.
const REQUESTS: usize = 2_000;
/// Instances that are provisioned at once, and the workers that do it.
const AT_ONCE: usize = 500;
const WORKERS: usize = 32;
/// Instances in the store while they are polled.
const STORED: usize = 10_000;

const CATALOG: &str = "
services:
- id: s
  name: s
  description: some values
  bindable: false
  plans:
  - {id: map, name: map, description: a ConfigMap each, type: map.jinja, async: true}
  - {id: none, name: none, description: no object, type: none.jinja, async: true}
";
const MAP: &str =
    "resources:\n- {name: '{{ env.deployment }}', type: ConfigMap, properties: {data: {a: b}}}\n";

#[tokio::main]
async fn main() -> Result<()> {
    // `cargo test --benches` asks for a list or a dry run; there is nothing to test here.
    if !std::env::args().any(|arg| arg == "--bench") {
        return Ok(());
    }
    let stack = Stack::start().await?;
    let platform = Arc::new(Platform::start(&stack).await?);
    println!("| what | median | 99 % | slowest |\n|---|---|---|---|");
    platform.catalog().await?;
    platform
        .clone()
        .provision_many("at-once", "map", AT_ONCE, true)
        .await?;
    #[expect(
        clippy::disallowed_methods,
        reason = "a benchmark has no flags of its own"
    )]
    let stored = std::env::var("DM_BROKER_INSTANCES").ok();
    let stored = stored.map_or(Ok(STORED), |text| text.parse())?;
    platform
        .clone()
        .provision_many("stored", "none", stored, false)
        .await?;
    platform.polls(stored).await
}

struct Platform {
    http: Client,
    /// Up to `/v2`.
    url: String,
    namespace: String,
    /// Keeps the manager running.
    _broker: Broker,
}

impl Platform {
    async fn start(stack: &Stack) -> Result<Self> {
        let catalog = stack.write("catalog.yaml", CATALOG)?;
        stack.write("map.jinja", MAP)?;
        stack.write("none.jinja", "resources: []\n")?;
        let broker = Broker::start(stack, &catalog.display().to_string()).await?;
        Ok(Self {
            url: format!("{}/v2", broker.url().await?),
            http: common::client::http::builder().no_proxy().build()?,
            namespace: stack.namespace.clone(),
            _broker: broker,
        })
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<(StatusCode, String)> {
        let url = format!("{}/{path}", self.url);
        let request = request(&self.http, method, url, body);
        let response = request.send().await?;
        Ok((response.status(), response.text().await?))
    }

    async fn catalog(&self) -> Result<()> {
        let mut times = Vec::new();
        for _ in 0..REQUESTS {
            let started = Instant::now();
            let (status, _) = self.send(Method::GET, "catalog", None).await?;
            times.push(started.elapsed());
            ensure!(status == StatusCode::OK, "{status}");
        }
        row("the catalog", times);
        Ok(())
    }

    /// Provisions instances by some workers. Anything but 202 and a 422 that is repeated is an error.
    async fn provision_many(
        self: Arc<Self>,
        prefix: &'static str,
        plan: &'static str,
        count: usize,
        waits: bool,
    ) -> Result<()> {
        let (next, started) = (Arc::new(AtomicUsize::new(0)), Instant::now());
        let workers = (0..WORKERS).map(|_| {
            let (platform, next) = (self.clone(), next.clone());
            tokio::spawn(async move {
                let mut times = Vec::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return anyhow::Ok(times);
                    }
                    times.push(
                        platform
                            .provision(&format!("{prefix}-{number}"), plan, waits)
                            .await?,
                    );
                }
            })
        });
        let mut times = Vec::new();
        for worker in workers.collect::<Vec<_>>() {
            times.extend(worker.await??);
        }
        let all = started.elapsed().as_secs_f64();
        row(
            &format!("{count} instances by {WORKERS} workers, in {all:.1} s: one"),
            times,
        );
        Ok(())
    }

    async fn provision(&self, id: &str, plan: &str, waits: bool) -> Result<Duration> {
        let started = Instant::now();
        let body = json!({
            "service_id": "s", "plan_id": plan, "organization_guid": "o", "space_guid": "s",
            "context": {"platform": "kubernetes", "namespace": self.namespace},
        });
        let path = format!("service_instances/{id}?accepts_incomplete=true");
        loop {
            let (status, text) = self.send(Method::PUT, &path, Some(body.clone())).await?;
            match status {
                StatusCode::ACCEPTED | StatusCode::OK => break,
                StatusCode::UNPROCESSABLE_ENTITY => tokio::task::yield_now().await,
                status => anyhow::bail!("{id}: {status}: {text}"),
            }
        }
        if waits {
            until("the instance", 10 * MINUTE, || async {
                let path = format!("service_instances/{id}/last_operation");
                let (_, text) = self.send(Method::GET, &path, None).await?;
                ensure!(text.contains("succeeded"), "{id}: {text}");
                Ok(())
            })
            .await?;
        }
        Ok(started.elapsed())
    }

    async fn polls(&self, stored: usize) -> Result<()> {
        let mut times = Vec::new();
        for number in 0..REQUESTS {
            let id = number * 7919 % stored.max(1);
            let path = format!("service_instances/stored-{id}/last_operation");
            let started = Instant::now();
            let (status, _) = self.send(Method::GET, &path, None).await?;
            times.push(started.elapsed());
            ensure!(status == StatusCode::OK, "{status}");
        }
        row(&format!("last_operation with {stored} instances"), times);
        Ok(())
    }
}

fn row(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |part: usize| {
        let last = times.len().saturating_sub(1);
        let time = times.get(last * part / 100).copied().unwrap_or_default();
        format!("{:.2} ms", time.as_secs_f64() * 1000.0)
    };
    println!("| {what} | {} | {} | {} |", at(50), at(99), at(100));
}
