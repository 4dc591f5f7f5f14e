//! What the template instances of the configuration itself say about the whole: their outputs and notes.

use std::collections::BTreeSet;

use common::model::Output;
use serde_json::Value;

use super::super::error::ExpansionError;
use super::super::tree::Body;
use super::outputs::Resolver;
use super::place::ReferenceLocations;
use super::scope::{Scope, Tree};

/// The outputs of the only instance; of several, or of primitives, none.
pub fn outputs(
    tree: &Tree<'_>,
    resolver: &mut Resolver<'_>,
    places: ReferenceLocations<'_, '_>,
) -> Result<Vec<Output>, ExpansionError> {
    let [only] = top(tree)[..] else {
        return Ok(Vec::new());
    };
    let Body::Template { outputs, .. } = &tree.node(only).body else {
        return Ok(Vec::new());
    };
    let resolved = outputs.iter().map(|output| {
        Ok(Output {
            name: output.name.clone(),
            value: within(&output.value, only, tree, resolver, places)?,
        })
    });
    resolved.collect()
}

/// The notes of the instances. With several resources, each text has the name of its instance above it.
pub fn notes(
    tree: &Tree<'_>,
    resolver: &mut Resolver<'_>,
    places: ReferenceLocations<'_, '_>,
) -> Result<Option<String>, ExpansionError> {
    let top = top(tree);
    let mut texts = Vec::new();
    for &id in &top {
        let node = tree.node(id);
        let Body::Template {
            notes: Some(notes), ..
        } = &node.body
        else {
            continue;
        };
        let value = within(&Value::from(notes.as_str()), id, tree, resolver, places)?;
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        texts.push(match top.len() {
            1 => text,
            _ => format!("{}:\n{text}", node.name),
        });
    }
    Ok((!texts.is_empty()).then(|| texts.join("\n")))
}

fn top(tree: &Tree<'_>) -> Vec<usize> {
    tree.all()
        .filter(|&id| tree.scope(id) == Scope::Top)
        .collect()
}

/// A value of an instance, as its template means the names in it.
fn within(
    value: &Value,
    instance: usize,
    tree: &Tree<'_>,
    resolver: &mut Resolver<'_>,
    places: ReferenceLocations<'_, '_>,
) -> Result<Value, ExpansionError> {
    resolver
        .value(value, Scope::Within(instance), &mut BTreeSet::new())
        .map_err(|fault| places.at(fault, tree.node(instance)))
}
