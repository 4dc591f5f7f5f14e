//! The alert rules and the dashboard that operators load ask for metrics and labels that the services show.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use common::yaml::{self, Duplicates, Limits};
use e2e::program::checkout;
use regex::Regex;
use serde_json::Value;

const FILES: [&str; 2] = ["alerts.yaml", "dashboard.json"];

/// A file beside the operators' pages. JSON is YAML.
fn read(file: &str) -> Result<Value> {
    let text = std::fs::read_to_string(checkout().join("docs/operators").join(file))?;
    Ok(yaml::read(&text, &Limits::default(), Duplicates::Error)?.value)
}

/// Each metric of the reference page, with its labels.
fn metrics() -> Result<BTreeMap<String, String>> {
    let page = std::fs::read_to_string(checkout().join("docs/reference/metrics.md"))?;
    let rows = page.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        let name = cells.next()?.trim_end_matches('`').to_owned();
        Some((name, cells.nth(1)?.to_owned()))
    });
    Ok(rows.collect())
}

/// Every `expr` in a file.
fn expressions(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value.as_str().filter(|_| key == "expr") {
                    Some(text) => found.push(text.to_owned()),
                    None => expressions(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| expressions(item, found)),
        _ => {}
    }
}

fn check(expression: &str, metrics: &BTreeMap<String, String>) -> Result<()> {
    let name = Regex::new(r"\b(?:dm|process)_[a-z_]+\b")?;
    let selector = Regex::new(r"\b((?:dm|process)_[a-z_]+)\{([^}]*)\}")?;
    let label = Regex::new(r#"([a-z]+)(?:=~|!=|=)""#)?;
    let metric = |name: &str| {
        let plain = ["_bucket", "_count", "_sum"]
            .iter()
            .find_map(|part| name.strip_suffix(part))
            .filter(|plain| metrics.contains_key(*plain));
        let labels = metrics.get(plain.unwrap_or(name));
        labels.with_context(|| format!("no service has {name}"))
    };
    let names: Vec<_> = name.find_iter(expression).collect();
    ensure!(
        !names.is_empty() || expression.starts_with("up{"),
        "it asks for no metric"
    );
    for name in names {
        metric(name.as_str())?;
    }
    for found in selector.captures_iter(expression) {
        let labels = metric(&found[1])?;
        for asked in label.captures_iter(&found[2]) {
            let is_there = labels.contains(&format!("`{}`", &asked[1])) || &asked[1] == "job";
            ensure!(is_there, "{} has no label {}", &found[1], &asked[1]);
        }
    }
    let closes = |open: char, close: char| {
        expression.matches(open).count() == expression.matches(close).count()
    };
    ensure!(
        closes('(', ')') && closes('{', '}') && closes('[', ']'),
        "a bracket is open"
    );
    Ok(())
}

#[test]
fn alert_rules_and_dashboard_ask_for_metrics_that_exist() -> Result<()> {
    let metrics = metrics()?;
    for file in FILES {
        let mut found = Vec::new();
        expressions(&read(file)?, &mut found);
        ensure!(
            found.len() >= 12,
            "{file}: only {} expressions",
            found.len()
        );
        for expression in found {
            check(&expression, &metrics).with_context(|| format!("{file}: {expression}"))?;
        }
    }
    Ok(())
}

#[test]
fn each_alert_says_what_is_wrong_and_what_to_do() -> Result<()> {
    let value = read("alerts.yaml")?;
    let rules = value["groups"][0]["rules"].as_array().context("no rules")?;
    for rule in rules {
        let name = rule["alert"].as_str().context("a rule without a name")?;
        for text in ["summary", "next"] {
            let said = rule["annotations"][text].as_str().unwrap_or_default();
            ensure!(said.ends_with(['.', '?']), "{name} has no {text}");
        }
        let severity = rule["labels"]["severity"].as_str();
        ensure!(
            matches!(severity, Some("warning" | "critical")),
            "{name}: {severity:?}"
        );
    }
    Ok(())
}
