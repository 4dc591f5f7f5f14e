//! The life of a deployed chart: definitions, hooks, an update, a failed hook, a rollback, a test, a deletion.

pub mod chart;
mod kill;

use anyhow::Result;
use e2e::Stack;
use serde_json::Value;

use chart::Chart;

#[tokio::test]
async fn a_chart_lives_with_its_definition_hooks_and_tests_and_leaves_nothing() -> Result<()> {
    let stack = Stack::start().await?;
    let chart = Chart::write(&stack)?;
    chart.deploy("one", &[]).await?;
    let state = chart.state("one")?;
    assert_eq!(
        (state["revision"].as_str(), state["upgrade"].as_str()),
        (Some("1"), Some("false"))
    );
    assert_eq!(stack.names(&chart.kind())?, ["one"]);
    assert_eq!(
        (chart.runs("one-prepare")?, chart.runs("one-announce")?),
        (1, 1)
    );
    // The policy of one asks for its deletion.
    assert_eq!(stack.names("jobs")?, ["one-prepare"]);
    assert_eq!(hooks_of(&stack, "one").await?, 5);

    stack.cluster.apply(&format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: seen, namespace: {}}}\ndata: {{word: hello}}\n", stack.namespace))?;
    stack
        .dm
        .ok(&["update", "one", "--set", "color=blue"])
        .await?;
    let state = chart.state("one")?;
    assert_eq!(
        (state["revision"].as_str(), state["upgrade"].as_str()),
        (Some("2"), Some("true"))
    );
    assert_eq!(
        (state["color"].as_str(), state["seen"].as_str()),
        (Some("blue"), Some("hello"))
    );
    assert_eq!(
        (chart.runs("one-prepare")?, chart.runs("one-announce")?),
        (2, 2)
    );

    let failure = stack
        .dm
        .fails(
            1,
            &[
                "update",
                "one",
                "--set",
                "color=green",
                "--set",
                "prepare=crash",
            ],
        )
        .await?;
    assert!(
        failure.contains("one-prepare") && failure.contains("pre-upgrade"),
        "{failure}"
    );
    assert!(
        failure.contains("exit code 1")
            || failure.contains("BackoffLimitExceeded")
            || failure.contains("backoff limit"),
        "{failure}"
    );
    assert_eq!(chart.state("one")?["color"], "blue");

    stack.dm.ok(&["rollback", "one"]).await?;
    assert_eq!(
        stack.dm.json(&["get", "one"]).await?["state"]["status"],
        "Deployed"
    );
    assert_eq!(chart.runs("one-announce")?, 3);

    let test = ["test", "--live", "one", "--timeout", "5m"];
    stack.dm.ok(&test).await?;
    assert_eq!(chart.runs("one-check")?, 1);
    stack.dm.ok(&["delete", "one"]).await?;
    assert_eq!(chart.runs("one-cleanup")?, 1);
    chart.is_gone("one")
}

async fn hooks_of(stack: &Stack, name: &str) -> Result<usize> {
    let layout = stack.dm.json(&["layout", name]).await?;
    let resources = layout["resources"][0]["resources"].as_array().cloned();
    let hooks = resources.unwrap_or_default();
    Ok(hooks
        .iter()
        .filter(|node| node["hook"] != Value::Null)
        .count())
}

#[tokio::test]
async fn two_deployments_of_a_chart_share_its_definition_and_the_last_one_leaves_it() -> Result<()>
{
    let stack = Stack::start().await?;
    let chart = Chart::write(&stack)?;
    chart.deploy("one", &[]).await?;
    chart.deploy("two", &[]).await?;
    assert_eq!(chart.sharers()?, ["one", "two"]);
    stack.dm.ok(&["delete", "one"]).await?;
    assert_eq!(chart.sharers()?, ["two"]);
    assert_eq!(stack.names(&chart.kind())?, ["two"]);
    stack
        .dm
        .ok(&["update", "two", "--set", "color=blue"])
        .await?;
    stack.dm.ok(&["delete", "two"]).await?;
    assert_eq!(chart.sharers()?, Vec::<String>::new());
    chart.is_gone("two")?;
    // It is used again, though nobody shares it any more.
    chart.deploy("one", &[]).await?;
    assert_eq!(chart.sharers()?, ["one"]);
    stack.dm.ok(&["delete", "one"]).await?;
    chart.is_gone("one")
}

#[tokio::test]
async fn a_failed_test_hook_is_named_and_the_deployment_stays_as_it_is() -> Result<()> {
    let stack = Stack::start().await?;
    let chart = Chart::write(&stack)?;
    chart.deploy("one", &["--set", "check=crash"]).await?;
    let before = stack.dm.json(&["get", "one"]).await?;
    let failure = stack.dm.fails(1, &["test", "--live", "one"]).await?;
    assert!(failure.contains("one-check"), "{failure}");
    let after = stack.dm.json(&["get", "one"]).await?;
    assert_eq!(before["state"], after["state"]);
    assert_eq!(before["latestManifest"], after["latestManifest"]);
    stack.dm.ok(&["delete", "one"]).await?;
    chart.is_gone("one")
}
