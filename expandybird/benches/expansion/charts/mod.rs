//! Helm charts of three sizes, beside `helm template` of the same charts.

mod generator;
mod helm;

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use common::api::expander::{ExpandRequest, ExpandResponse};
use common::model::Import;
use common_chart::archive::pack;

use crate::cases::Case;
use crate::http::Connection;
use crate::service::Service;
use crate::{CLIENTS, Times, callers, ms, verdict};
use generator::{Size, chart};
use helm::Helm;

const FILE: &str = "bench-1.0.0.tgz";
/// Renders of each chart.
const RUNS: usize = 200;
const PROCESSES: usize = 7;
/// Requests of all clients together.
const REQUESTS: usize = 10_000;

const SIZES: [(Size, u64); 3] = [
    (Size::Small, 3),
    (Size::Prometheus, 12),
    (Size::KubePrometheusStack, 35),
];

/// Prints a table of its own: charts have another tool to be compared with.
pub fn rows(service: &Service) -> Result<()> {
    let helm = Helm::build()?;
    println!("| what | ours: p50, p99 | goal | `helm template`, p50 | `helm template` / ours |");
    println!("|---|---|---|---|---|");
    for (size, goal_ms) in SIZES {
        alone(service, &helm, size, goal_ms)?;
    }
    together(service)
}

fn alone(service: &Service, helm: &Helm, size: Size, goal_ms: u64) -> Result<()> {
    let case = case(size, goal_ms)?;
    let mut connection = Connection::open(service.port())?;
    let body = serde_json::to_vec(&case.request)?;
    let answer = connection.post("/expand", &body)?;
    let answer: ExpandResponse =
        serde_json::from_slice(&answer).context("the answer is not an expansion")?;
    let folder = tempfile::tempdir()?;
    generator::write(&chart(size), folder.path())?;
    let objects = helm.objects(folder.path())?;
    let ours = answer.config.resources.len();
    ensure!(
        ours == objects,
        "{}: {ours} objects, and Helm {objects}",
        case.name
    );
    let mut times = Times::default();
    for _ in 0..case.runs.div_ceil(10) {
        connection.post("/expand", &body)?;
    }
    for _ in 0..case.runs {
        times.take(|| connection.post("/expand", &body))?;
    }
    let mut theirs = Times::default();
    for _ in 0..case.processes {
        theirs.take(|| helm.objects(folder.path()))?;
    }
    let (mid, other) = (times.percentile(50), theirs.percentile(50));
    println!(
        "| {}, {objects} objects | {}, {} | {} {} | {} | {:.0} |",
        case.name,
        ms(mid),
        ms(times.percentile(99)),
        ms(case.goal),
        verdict(mid < case.goal),
        ms(other),
        other.as_secs_f64() / mid.as_secs_f64()
    );
    Ok(())
}

fn together(service: &Service) -> Result<()> {
    const RATE: f64 = 1_500.0;
    let case = case(Size::Small, 3)?;
    let started = std::time::Instant::now();
    let all = callers(service, &case, REQUESTS)?;
    let rate = all.count() as f64 / started.elapsed().as_secs_f64();
    println!(
        "| {CLIENTS} callers, {REQUESTS} times {} | {}, {}; {rate:.0}/s | {RATE:.0}/s {} | – | – |",
        case.name,
        ms(all.percentile(50)),
        ms(all.percentile(99)),
        verdict(rate > RATE)
    );
    Ok(())
}

fn case(size: Size, goal_ms: u64) -> Result<Case> {
    let files: Vec<_> = chart(size)
        .into_iter()
        .map(|(path, text)| common_chart::File::new(path, text))
        .collect();
    let content = BASE64_STANDARD.encode(pack("bench", &files)?);
    let import = Import {
        name: FILE.to_owned(),
        path: None,
        content,
    };
    Ok(Case {
        name: size.name(),
        request: ExpandRequest {
            name: "bench".to_owned(),
            content: format!(
                "imports:\n- path: {FILE}\nresources:\n- name: bench\n  type: {FILE}\n"
            ),
            imports: vec![import],
            env: [("deployment".to_owned(), "bench".into())]
                .into_iter()
                .collect(),
            seed: "bench".to_owned(),
            ..ExpandRequest::default()
        },
        resources: 0,
        runs: RUNS,
        processes: PROCESSES,
        goal: Duration::from_millis(goal_ms),
    })
}
