//! Which subcharts a render uses: aliases, versions, tags and conditions.

use common_chart::semver::{Constraint, Version};
use expandybird_gotemplate::value::{Map, Value};

use crate::coalesce::{Coalescer, Nulls};
use crate::error::ChartError;
use crate::metadata::Dependency;
use crate::node::Node;
use crate::values::{scalar_at, table};

/// Whether a version meets a range. A range or a version that is none meets nothing.
pub fn is_in_range(range: &str, version: &str) -> bool {
    let (range, version) = (range.parse::<Constraint>(), version.parse::<Version>());
    matches!((range, version), (Ok(range), Ok(version)) if range.allows(&version))
}

/// Fails if a dependency that the chart declares is not in `charts/`.
pub fn check_present(node: &Node<'_>) -> Result<(), ChartError> {
    let declared = node.dependencies.iter().flatten();
    let is_missing = |dependency: &&Dependency| !node.has_subchart(dependency.name.as_bytes());
    let missing: Vec<&str> = declared
        .filter(is_missing)
        .map(|dependency| dependency.name.as_str())
        .collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(ChartError::Chart(format!(
            "found in Chart.yaml, but missing in charts/ directory: {}; run helm dependency build",
            missing.join(", ")
        ))),
    }
}

/// Keeps the subcharts that are enabled, under their aliases. `prefix` is the path of the chart's values.
pub fn enable(
    node: &mut Node<'_>,
    values: &Map,
    prefix: &str,
    warnings: &mut Vec<String>,
) -> Result<(), ChartError> {
    let Some(mut declared) = node.dependencies.take() else {
        return Ok(());
    };
    node.subcharts = named(node, &mut declared);
    let mut coalescer = Coalescer {
        nulls: Nulls::Remove,
        warnings,
    };
    let values = coalescer.coalesce(node, values)?;
    for dependency in &mut declared {
        let by_tags = is_enabled_by_tags(dependency, &values);
        let by_condition = is_enabled_by_condition(dependency, &values, prefix, warnings);
        dependency.enabled = by_condition.unwrap_or(by_tags);
    }
    let disabled = |name: &str| {
        let mut declared = declared.iter();
        declared.any(|dependency| dependency.name == name && !dependency.enabled)
    };
    node.subcharts.retain(|subchart| !disabled(&subchart.name));
    for subchart in &mut node.subcharts {
        let prefix = format!("{prefix}{}.", subchart.name);
        enable(subchart, &values, &prefix, warnings)?;
    }
    let kept = declared.iter().filter(|one| !disabled(&one.name));
    node.dependencies = Some(kept.cloned().collect());
    Ok(())
}

/// The subcharts that nothing declares, and one for each that is declared and there. A dependency's alias becomes its
/// name.
fn named<'c>(node: &Node<'c>, declared: &mut [Dependency]) -> Vec<Node<'c>> {
    let fits = |subchart: &Node<'_>, dependency: &Dependency| {
        let version = &subchart.chart.metadata.version;
        subchart.name == dependency.name && is_in_range(&dependency.version, version)
    };
    let undeclared = node
        .subcharts
        .iter()
        .filter(|subchart| !declared.iter().any(|one| fits(subchart, one)));
    let mut named: Vec<Node<'c>> = undeclared.cloned().collect();
    for dependency in declared {
        let mut found = node.subcharts.iter();
        let found = found.find(|subchart| fits(subchart, dependency)).cloned();
        if !dependency.alias.is_empty() {
            dependency.name.clone_from(&dependency.alias);
        }
        named.extend(found.map(|subchart| subchart.with_name(&dependency.name)));
    }
    named
}

/// A tag that is true wins over tags that are false. Without a tag that is set, the dependency is enabled.
fn is_enabled_by_tags(dependency: &Dependency, values: &Map) -> bool {
    let Some(tags) = table(values, b"tags") else {
        return true;
    };
    let set = dependency
        .tags
        .iter()
        .filter_map(|tag| match tags.get(tag.as_bytes()) {
            Some(Value::Bool(truth)) => Some(truth),
            _ => None,
        });
    let set: Vec<bool> = set.collect();
    set.is_empty() || set.contains(&true)
}

/// The first path of the condition that leads to a boolean decides.
fn is_enabled_by_condition(
    dependency: &Dependency,
    values: &Map,
    prefix: &str,
    warnings: &mut Vec<String>,
) -> Option<bool> {
    let paths = dependency.condition.trim().split(',');
    for path in paths.filter(|path| !path.is_empty()) {
        match scalar_at(values, &format!("{prefix}{path}")) {
            Some(Value::Bool(truth)) => return Some(truth),
            Some(_) => warnings.push(format!(
                "the condition '{path}' of the chart {} is not a boolean",
                dependency.name
            )),
            None => {}
        }
    }
    None
}
