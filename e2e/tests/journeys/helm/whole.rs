//! A chart with a subchart, a definition and hooks, from where charts are published: alone, and within a template.

use anyhow::{Context as _, Result};
use e2e::Stack;
use e2e::hub::Hub;

use super::data;
use super::registries::{push, shop, stack};
use crate::hooks::chart::Chart;

const VERSIONS: [&str; 2] = ["1.0.0", "1.1.0"];

/// The color is known when the cluster has the settings.
const NESTED: &str = "\
resources:
- name: settings
  type: ConfigMap
  properties:
    data: {color: \"{{ properties.color }}\"}
- name: {{ env['deployment'] }}-site
  type: REFERENCE
  properties:
    color: $(ref.settings.data.color)
    store: {size: large}
";

#[tokio::test]
async fn a_whole_chart_of_a_chart_repository_lives_alone_and_within_a_template() -> Result<()> {
    let stack = stack().await?;
    let (chart, mut shop) = (Chart::new(&stack), shop(&stack).await?);
    for version in VERSIONS {
        shop.add("app", version, &chart.files(version))?;
    }
    let references = VERSIONS.map(|version| format!("helm:shop/app:{version}"));
    lives(&chart, &references).await
}

#[tokio::test]
async fn a_whole_chart_of_an_oci_registry_lives_alone_and_within_a_template() -> Result<()> {
    let (stack, hub) = (stack().await?, Hub::start()?);
    let chart = Chart::new(&stack);
    let mut references = Vec::new();
    for version in VERSIONS {
        references.push(push(&hub, ("app", version), &chart.files(version)).await?);
    }
    lives(&chart, &references).await
}

/// Deploys the first version, has it in a template too, updates to the second, rolls back, and deletes.
async fn lives(chart: &Chart<'_>, references: &[String]) -> Result<()> {
    let [first, second] = references else {
        anyhow::bail!("{references:?}");
    };
    let stack = chart.stack;
    stack.deploy(&[first, "--name", "one"]).await?;
    is(chart, "one", ["1.0.0", "red", "small"])?;
    assert_eq!(hooks(chart, "one")?, [1, 1]);
    within_a_template(chart, first).await?;
    let more = ["--set", "color=blue", "--set", "store.size=large"];
    let update = ["update", second, "--name", "one"];
    stack.dm.ok(&[&update[..], &more].concat()).await?;
    is(chart, "one", ["1.1.0", "blue", "large"])?;
    assert_eq!(hooks(chart, "one")?, [2, 2]);
    stack.dm.ok(&["rollback", "one", "1"]).await?;
    is(chart, "one", ["1.0.0", "red", "small"])?;
    // Only one of them is for rollbacks.
    assert_eq!(hooks(chart, "one")?, [2, 3]);
    stack.dm.ok(&["delete", "one"]).await?;
    assert_eq!(chart.runs("one-cleanup")?, 1);
    assert_eq!(chart.sharers()?, Vec::<String>::new());
    chart.is_gone("one")
}

/// The same beside it, with a value that another resource has.
async fn within_a_template(chart: &Chart<'_>, reference: &str) -> Result<()> {
    let stack = chart.stack;
    let template = stack.write("nested.jinja", &NESTED.replace("REFERENCE", reference))?;
    let template = template.to_str().context("a path that is not text")?;
    stack
        .deploy(&[template, "--name", "all", "--set", "color=green"])
        .await?;
    is(chart, "all-site", ["1.0.0", "green", "large"])?;
    assert_eq!(hooks(chart, "all-site")?, [1, 1]);
    assert_eq!(chart.sharers()?, ["all", "one"]);
    stack
        .dm
        .ok(&["update", "all", "--set", "color=white"])
        .await?;
    is(chart, "all-site", ["1.0.0", "white", "large"])?;
    assert_eq!(hooks(chart, "all-site")?, [2, 2]);
    stack.dm.ok(&["rollback", "all"]).await?;
    is(chart, "all-site", ["1.0.0", "green", "large"])?;
    stack.dm.ok(&["delete", "all"]).await?;
    assert_eq!(chart.runs("all-site-cleanup")?, 1);
    assert_eq!(chart.sharers()?, ["one"]);
    assert!(!stack.names("configmaps")?.contains(&"settings".to_owned()));
    chart.is_gone("all-site")
}

/// What a release has made: the version of its chart, its color, and what its subchart made.
fn is(chart: &Chart<'_>, release: &str, expected: [&str; 3]) -> Result<()> {
    let stack = chart.stack;
    let state = chart.state(release)?;
    let size = data(stack, &format!("{release}-store"), "size")?;
    let found = [&state["chart"], &state["color"], &size.into()].map(|value| value.clone());
    assert_eq!(found, expected, "{state}");
    assert_eq!(color(stack, chart, release)?, expected[1]);
    Ok(())
}

/// The color of the release's object of the chart's own kind.
fn color(stack: &Stack, chart: &Chart<'_>, release: &str) -> Result<String> {
    let place = ["--namespace", &stack.namespace, "-o"];
    let get = ["get", &chart.kind(), release];
    let get = [&get[..], &place, &["jsonpath={.spec.color}"]].concat();
    stack.cluster.kubectl(&get)
}

/// How often the hook before the objects has run, and the one after them.
fn hooks(chart: &Chart<'_>, release: &str) -> Result<[usize; 2]> {
    Ok([
        chart.runs(&format!("{release}-prepare"))?,
        chart.runs(&format!("{release}-announce"))?,
    ])
}
