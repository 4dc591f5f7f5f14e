//! `metrics.md`: what the services answer to `GET /metrics`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::Result;
use e2e::program::Service;
use tempfile::TempDir;

use super::{cell, compare, get};

#[derive(Default)]
struct Metric {
    kind: String,
    meaning: String,
    labels: BTreeSet<String>,
    services: BTreeSet<&'static str>,
}

/// Adds what a service showed, in Prometheus' text format.
fn add(found: &mut BTreeMap<String, Metric>, service: &'static str, text: &str) {
    for line in text.lines() {
        let mut words = line.splitn(4, ' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some("HELP"), Some(name), meaning) => {
                let metric = found.entry(name.to_owned()).or_default();
                metric.meaning = meaning.unwrap_or_default().to_owned();
                metric.services.insert(service);
            }
            (Some("#"), Some("TYPE"), Some(name), Some(kind)) => {
                found.entry(name.to_owned()).or_default().kind = kind.to_owned();
            }
            _ => add_labels(found, line),
        }
    }
}

/// The labels of a sample: `name{label="value",…} 1`.
fn add_labels(found: &mut BTreeMap<String, Metric>, sample: &str) {
    let Some((name, rest)) = sample.split_once('{') else {
        return;
    };
    let name = ["_bucket", "_sum", "_count"]
        .iter()
        .find_map(|part| name.strip_suffix(part))
        .unwrap_or(name);
    let Some(metric) = found.get_mut(name) else {
        return;
    };
    let labels = rest.split("=\"").filter_map(|part| {
        let label = part.rsplit(['"', ',']).next()?;
        (!label.contains('}') && label != "le").then(|| label.to_owned())
    });
    metric.labels.extend(labels);
}

/// A service that nobody has asked anything yet shows no requests: the second answer counts the first.
async fn shown(service: &Service) -> Result<String> {
    get(service, "/metrics").await?;
    get(service, "/metrics").await
}

#[tokio::test]
async fn the_page_of_metrics_has_every_metric() -> Result<()> {
    let folder = TempDir::new()?;
    let mut found = BTreeMap::new();
    for name in ["manager", "expandybird", "resourcifier"] {
        let args = match name {
            // Only instances in a list have a metric.
            "manager" => vec![
                "--store=memory".to_owned(),
                "--expander-url=http://127.0.0.1:1,http://127.0.0.1:2".to_owned(),
            ],
            _ => Vec::new(),
        };
        let service = Service::start(name, folder.path(), args).await?;
        add(&mut found, name, &shown(&service).await?);
    }
    let mut page = "# Metrics\n\n\
        `GET /metrics` of each service, in the text format of Prometheus.\n\n\
        | metric | type | labels | services | meaning |\n|---|---|---|---|---|\n"
        .to_owned();
    for (name, metric) in &found {
        let labels: Vec<_> = metric
            .labels
            .iter()
            .map(|label| format!("`{label}`"))
            .collect();
        let services = match metric.services.len() {
            3 => "all".to_owned(),
            _ => metric
                .services
                .iter()
                .copied()
                .collect::<Vec<_>>()
                .join(", "),
        };
        let (kind, labels, meaning) = (&metric.kind, labels.join(", "), cell(&metric.meaning));
        let _ = writeln!(
            page,
            "| `{name}` | {kind} | {labels} | {services} | {meaning} |"
        );
    }
    compare("metrics.md", &page);
    Ok(())
}
