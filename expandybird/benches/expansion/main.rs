//! How fast expansions are, over HTTP, beside one fresh Python process a request that does the same with PyYAML,
//! Jinja2 and jsonschema, and beside `helm template`.
//!
//! `cargo build --release -p expandybird-worker && cargo bench -p expandybird` prints the table of the README, and says
//! which figures miss their goal. `cargo bench -p expandybird -- charts` prints the rows of Helm charts alone.

mod cases;
mod charts;
mod http;
mod instead;
#[path = "../../tests/support/program.rs"]
mod program;
mod service;

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use cases::Case;
use common::api::expander::ExpandResponse;
use http::Connection;
use instead::Instead;
use service::{Memory, Service};

/// Callers at once, of the row that asks for the throughput.
const CLIENTS: usize = 64;
/// Requests of all of them together.
const REQUESTS: usize = 20_000;
/// Requests that must not make the memory grow.
const MANY_REQUESTS: usize = 100_000;
/// As many of a Python template, each with a process of its own, take as long.
const PYTHON_REQUESTS: usize = 10_000;
const MIB: u64 = 1024 * 1024;

fn main() -> Result<()> {
    // `cargo test --benches` asks for a list or a dry run; there is nothing to test here.
    if !std::env::args().any(|arg| arg == "--bench") {
        return Ok(());
    }
    let service = Service::start()?;
    if std::env::args().any(|arg| arg == "charts") {
        return charts::rows(&service);
    }
    let instead = Instead::install()?;
    let at_rest = service.memory()?;
    println!("| what | ours: p50, p99 | goal | fresh Python, p50 | Python / ours |");
    println!("|---|---|---|---|---|");
    for case in cases::all() {
        alone(&service, &instead, &case)?;
    }
    together(&service, &cases::small_jinja(), REQUESTS)?;
    charts::rows(&service)?;
    let before = service.memory()?;
    together(&service, &cases::small_jinja(), MANY_REQUESTS)?;
    let after = service.memory()?;
    println!("| memory | server | goal | warm worker's own | goal |");
    println!("|---|---|---|---|---|");
    memory("at rest", &at_rest, 100 * MIB);
    memory("after the rows above", &before, 100 * MIB);
    let what = format!("after {MANY_REQUESTS} requests more");
    memory(&what, &after, before.server_bytes + 4 * MIB);
    callers(&service, &cases::small_python(), PYTHON_REQUESTS)?;
    let what = format!("after {PYTHON_REQUESTS} more with a Python template");
    memory(&what, &service.memory()?, after.server_bytes + 4 * MIB);
    Ok(())
}

/// One caller, one request after the other; in turn with fresh Python processes.
fn alone(service: &Service, instead: &Instead, case: &Case) -> Result<()> {
    let mut connection = Connection::open(service.port())?;
    let body = serde_json::to_vec(&case.request)?;
    let mut answer = Vec::new();
    for _ in 0..case.runs.div_ceil(10) {
        answer = connection.post("/expand", &body)?;
    }
    let answer: ExpandResponse =
        serde_json::from_slice(&answer).context("the answer is not an expansion")?;
    ensure!(
        answer.config.resources.len() == case.resources,
        "{}",
        case.name
    );
    let mut ours = Times::default();
    for _ in 0..case.runs {
        ours.take(|| connection.post("/expand", &body))?;
    }
    let mut python = Times::default();
    for _ in 0..case.processes {
        let resources = python.take(|| instead.expand(&body))?;
        ensure!(resources == case.resources, "{}: {resources}", case.name);
    }
    let (mid, other) = (ours.percentile(50), python.percentile(50));
    println!(
        "| {} | {}, {} | {} {} | {} | {:.0} |",
        case.name,
        ms(mid),
        ms(ours.percentile(99)),
        ms(case.goal),
        verdict(mid < case.goal),
        ms(other),
        other.as_secs_f64() / mid.as_secs_f64()
    );
    Ok(())
}

/// Many callers, each with one request after the other; how long each request took.
fn callers(service: &Service, case: &Case, requests: usize) -> Result<Times> {
    let body = serde_json::to_vec(&case.request)?;
    let caller = || -> Result<Times> {
        let mut connection = Connection::open(service.port())?;
        let mut times = Times::default();
        for _ in 0..requests / CLIENTS {
            times.take(|| connection.post("/expand", &body))?;
        }
        Ok(times)
    };
    let all = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(caller)).collect();
        let times = callers.into_iter().map(|caller| match caller.join() {
            Ok(times) => times,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        times.collect::<Result<Vec<_>>>()
    })?;
    Ok(Times(all.into_iter().flat_map(|times| times.0).collect()))
}

fn together(service: &Service, case: &Case, requests: usize) -> Result<()> {
    const RATE: f64 = 10_000.0;
    const LONGEST: Duration = Duration::from_millis(40);
    let started = Instant::now();
    let all = callers(service, case, requests)?;
    let took = started.elapsed();
    let rate = all.0.len() as f64 / took.as_secs_f64();
    let longest = all.percentile(99);
    println!(
        "| {CLIENTS} callers, {requests} times {} | {}, {}; {rate:.0}/s | {RATE:.0}/s, p99 {} {} | – | – |",
        case.name,
        ms(all.percentile(50)),
        ms(longest),
        ms(LONGEST),
        verdict(rate > RATE && longest < LONGEST)
    );
    Ok(())
}

fn memory(what: &str, memory: &Memory, server_goal: u64) {
    const WORKER_GOAL: u64 = 25 * MIB;
    let shown = |bytes: u64, goal: u64| {
        let mib = |bytes: u64| bytes as f64 / MIB as f64;
        let verdict = verdict(bytes < goal);
        format!("{:.1} MiB | {:.0} MiB {verdict}", mib(bytes), mib(goal))
    };
    let server = shown(memory.server_bytes, server_goal);
    let worker = shown(memory.worker_bytes, WORKER_GOAL);
    println!("| {what} | {server} | {worker} |");
}

fn verdict(reached: bool) -> &'static str {
    if reached { "reached" } else { "**missed**" }
}

fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

#[derive(Default)]
struct Times(Vec<Duration>);

impl Times {
    fn take<T>(&mut self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let started = Instant::now();
        let done = work()?;
        self.0.push(started.elapsed());
        Ok(done)
    }

    fn count(&self) -> usize {
        self.0.len()
    }

    fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort();
        let index = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
        sorted.get(index).copied().unwrap_or_default()
    }
}
