//! What a collector of traces sees of a deploy.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use e2e::{Collector, Span, Stack, until};

/// Spans are sent every few seconds.
const PATIENCE: Duration = Duration::from_secs(60);
/// A property. It is in no span.
const PROPERTY: &str = "hunter-and-gatherer";

pub const CONFIGURATION: &str =
    "resources:\n- {name: fine, type: ConfigMap, properties: {data: {a: hunter-and-gatherer}}}\n";

/// The spans of the only trace that `dm deploy` began.
fn trace(collector: &Collector) -> Result<(Span, Vec<Span>)> {
    let spans = collector.spans();
    let root = spans.iter().find(|span| span.name == "dm deploy");
    let root = root.context("no span of dm")?.clone();
    ensure!(root.service == "dm" && root.parent.is_empty(), "{root:?}");
    let trace = spans.into_iter().filter(|span| span.trace == root.trace);
    Ok((root.clone(), trace.collect()))
}

fn named(spans: &[Span], service: &str, name: &str) -> Result<Span> {
    let found = spans
        .iter()
        .find(|span| span.service == service && span.name == name);
    let found = found.with_context(|| format!("{service} has no {name:?} in {spans:?}"))?;
    Ok(found.clone())
}

/// The names from the span up to the first one of the trace.
fn way_up(spans: &[Span], from: &Span) -> Vec<String> {
    let parent = |span: &&Span| spans.iter().find(|one| one.id == span.parent);
    let way = std::iter::successors(Some(from), parent);
    way.map(|span| format!("{}: {}", span.service, span.name))
        .collect()
}

#[tokio::test]
async fn a_deploy_is_one_trace_of_all_four_programs() -> Result<()> {
    let collector = Collector::serve().await?;
    let stack = Stack::traced(&collector.url()).await?;
    stack.write("fine.yaml", CONFIGURATION)?;
    let dm = stack.dm.with_collector(collector.url());
    dm.ok(&["deploy", "fine.yaml", "--namespace", &stack.namespace])
        .await?;
    until("the trace to be complete", PATIENCE, || async {
        let (_, spans) = trace(&collector)?;
        named(&spans, "manager", "POST /deployments")?;
        let operation = named(&spans, "manager", "operation")?;
        ensure!(
            operation
                .attributes
                .get("deployment")
                .is_some_and(|name| name == "fine")
        );
        let up = [
            "manager: operation",
            "manager: POST /deployments",
            "dm: dm deploy",
        ];
        for (service, request, step) in [
            ("expandybird", "POST /expand", "expanding"),
            ("resourcifier", "POST /configurations", "applying"),
        ] {
            let request = named(&spans, service, request)?;
            let way = way_up(&spans, &request);
            let step = format!("manager: {step}");
            let expected = [&[step.as_str()], &up[..]].concat();
            ensure!(way[1..] == expected, "{way:?}");
        }
        Ok(())
    })
    .await?;
    let all = collector.spans();
    assert!(!format!("{all:?}").contains(PROPERTY), "{all:?}");
    Ok(())
}

#[tokio::test]
async fn the_trace_of_an_operation_goes_on_after_its_manager_was_killed() -> Result<()> {
    let collector = Collector::serve().await?;
    let mut stack = Stack::traced(&collector.url()).await?;
    stack.write("fine.yaml", CONFIGURATION)?;
    // The operation cannot end before the manager does.
    stack.resourcifier.crash()?;
    let dm = stack.dm.with_collector(collector.url());
    let args = [
        "deploy",
        "fine.yaml",
        "--async",
        "--namespace",
        &stack.namespace,
    ];
    let operation = dm.json(&args).await?;
    stack.manager.crash()?;
    stack.resourcifier.again().await?;
    stack.manager.again().await?;
    let path = format!(
        "/operations/{}",
        operation["id"].as_str().unwrap_or_default()
    );
    until("the operation to be done", PATIENCE, || async {
        let (_, operation) = stack.get(&path).await?;
        ensure!(operation["status"] == "DONE", "{operation}");
        ensure!(operation["error"].is_null(), "{operation}");
        Ok(())
    })
    .await?;
    goes_on(&collector).await
}

/// Waits until the operation that was interrupted has ended in the trace that it began in.
pub async fn goes_on(collector: &Collector) -> Result<()> {
    until("the trace to have the end", PATIENCE, || async {
        let (root, spans) = trace(collector)?;
        let applied = named(&spans, "resourcifier", "POST /configurations")?;
        let way = way_up(&spans, &applied);
        let expected = ["manager: applying", "manager: operation"];
        ensure!(
            way[1..].starts_with(&expected.map(str::to_owned)),
            "{way:?}"
        );
        ensure!(applied.trace == root.trace);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn without_its_collector_everything_works_as_before() -> Result<()> {
    let nowhere = "http://127.0.0.1:1";
    let stack = Stack::traced(nowhere).await?;
    stack.write("fine.yaml", CONFIGURATION)?;
    let dm = stack.dm.with_collector(nowhere.to_owned());
    dm.ok(&["deploy", "fine.yaml", "--namespace", &stack.namespace])
        .await?;
    dm.ok(&["delete", "fine"]).await?;
    Ok(())
}
