//! `import-values`: values of subcharts that become defaults of their parents.

use expandybird_gotemplate::value::Map;
use serde_json::{Value, json};

use crate::coalesce::{Coalescer, Nulls};
use crate::error::ChartError;
use crate::node::Node;
use crate::values::{copy, table_at};

/// Imports the values that the charts of a render declare, the innermost ones first.
pub fn import(node: &mut Node<'_>, warnings: &mut Vec<String>) -> Result<(), ChartError> {
    for subchart in &mut node.subcharts {
        import(subchart, warnings)?;
    }
    let Some(mut declared) = node.dependencies.take() else {
        return Ok(());
    };
    let mut coalescer = Coalescer {
        nulls: Nulls::Keep,
        warnings,
    };
    let values = coalescer.coalesce(node, &Map::default())?;
    let imported = Map::default();
    for dependency in &mut declared {
        for import in &mut dependency.import_values {
            let Some((child, parent)) = paths(import) else {
                continue;
            };
            let path = format!("{}.{child}", dependency.name);
            match table_at(&values, &path) {
                Some(table) => coalescer.merge_tables(&imported, &placed(&parent, table)),
                None => coalescer
                    .warnings
                    .push(format!("import-values: there is no table {path}")),
            }
            *import = json!({"child": child, "parent": parent});
        }
        dependency.import_values.retain(|import| import.is_object());
    }
    // Imported values rank below the chart's own.
    let defaults = copy(&values);
    coalescer.merge_tables(&defaults, &imported);
    node.set_defaults(defaults);
    node.dependencies = Some(declared);
    Ok(())
}

/// The path in the subchart, and the path in the parent.
fn paths(import: &Value) -> Option<(String, String)> {
    match import {
        Value::String(name) => Some((format!("exports.{name}"), ".".to_owned())),
        Value::Object(paths) => {
            let path = |key| match paths.get(key) {
                Some(Value::String(path)) => path.clone(),
                Some(other) => other.to_string(),
                None => "<nil>".to_owned(),
            };
            Some((path("child"), path("parent")))
        }
        _ => None,
    }
}

/// The table at a path of the parent; `.` is its root.
fn placed(path: &str, table: Map) -> Map {
    if path == "." {
        return table;
    }
    let keys = path.rsplit('.');
    keys.fold(table, |inner, key| {
        let outer = Map::default();
        outer.insert(key, inner.into());
        outer
    })
}
