//! What an operator's monitoring sees of operations and commits.

use anyhow::{Context, Result, ensure};
use e2e::Stack;

const FINE: &str = "resources:\n- {name: fine, type: ConfigMap, properties: {data: {a: b}}}\n";
const REFUSED: &str =
    "resources:\n- {name: refused, type: ConfigMap, properties: {data: {a: {b: c}}}}\n";

async fn shown(stack: &Stack) -> Result<String> {
    let http = common::client::http::builder().no_proxy().build()?;
    let url = format!("{}/metrics", stack.manager.url());
    Ok(http.get(url).send().await?.text().await?)
}

/// The value of a sample, by its name and labels as they are written.
pub async fn sample(stack: &Stack, name: &str) -> Result<f64> {
    let text = shown(stack).await?;
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let line = line.with_context(|| format!("there is no {name} in\n{text}"))?;
    Ok(line.trim().parse()?)
}

#[tokio::test]
async fn operations_are_counted_by_how_they_end() -> Result<()> {
    let stack = Stack::start().await?;
    for name in [
        r#"dm_operations{state="waiting"}"#,
        r#"dm_operations{state="running"}"#,
    ] {
        assert_eq!(sample(&stack, name).await?, 0.0, "{name}");
    }
    for (file, text, works) in [("fine", FINE, true), ("refused", REFUSED, false)] {
        let file = format!("{file}.yaml");
        stack.write(&file, text)?;
        let said = stack
            .dm
            .run(&["deploy", &file, "--namespace", &stack.namespace])
            .await?;
        ensure!((said.code == 0) == works, "{said:?}");
    }
    let said = stack.dm.run(&["delete", "fine"]).await?;
    ensure!(said.code == 0, "{said:?}");
    for (name, expected) in [
        (
            r#"dm_operations_ended_total{code="none",type="create"}"#,
            1.0,
        ),
        (
            r#"dm_operations_ended_total{code="none",type="delete"}"#,
            1.0,
        ),
        (r#"dm_operations{state="waiting"}"#, 0.0),
        (r#"dm_operations{state="running"}"#, 0.0),
        ("dm_oldest_operation_start_time_seconds ", 0.0),
        ("dm_store_owner ", 1.0),
        (r#"dm_store_commit_seconds_count{outcome="failed"}"#, 0.0),
    ] {
        assert_eq!(sample(&stack, name).await?, expected, "{name}");
    }
    let commits = sample(&stack, r#"dm_store_commit_seconds_count{outcome="done"}"#);
    assert!(commits.await? > 6.0);
    let text = shown(&stack).await?;
    let failed = text.lines().any(|line| {
        line.starts_with("dm_operations_ended_total")
            && line.contains(r#"type="create""#)
            && !line.contains(r#"code="none""#)
            && line.ends_with(" 1")
    });
    assert!(failed, "{text}");
    Ok(())
}
