//! References and dependencies: inserts outputs, checks names, finds cycles.
//!
//! A name is looked up among the siblings, then in each enclosing list, and last in the whole tree. A reference to a
//! primitive stays unchanged, because its value is known only when the object exists. A reference to the output of a
//! template is replaced by the output's value.

mod cycle;
mod instances;
mod outputs;
mod place;
mod scope;
mod syntax;

use std::collections::{BTreeSet, HashSet};

use common::model::{Configuration, Output, Resource};
use serde_json::{Map, Value};

use super::error::{ExpansionError, Fault};
use super::reading::Text;
use super::tree::{Body, Node};
use outputs::Resolver;
use place::ReferenceLocations;
use scope::{Scope, Tree};
pub use syntax::is_reference;

/// The metadata that a primitive inherits from the templates around it.
const INHERITED: [&str; 3] = ["createPolicy", "deletePolicy", "updatePolicy"];

/// What a tree comes to.
pub struct Resolved {
    /// The primitives of the tree, in its order, with everything resolved.
    pub configuration: Configuration,
    /// What its templates say to their user.
    pub notes: Option<String>,
}

/// The primitives of the tree, in its order, with all references resolved.
pub fn resolve(
    nodes: &[Node],
    outputs: Option<Vec<Output>>,
    text: &Text<'_>,
) -> Result<Resolved, ExpansionError> {
    let tree = Tree::new(nodes);
    let places = ReferenceLocations { nodes, text };
    let mut resolver = Resolver::new(&tree);
    let mut resources = Vec::new();
    let mut needs = Vec::new();
    for id in tree.primitives() {
        let node = tree.node(id);
        let mut needed = BTreeSet::new();
        let resource = primitive(&tree, &mut resolver, id, &mut needed)
            .map_err(|fault| places.at(fault, node))?;
        resources.push(resource);
        needs.push((id, needed));
    }
    if let Some((id, chain)) = cycle::find(&tree, &needs) {
        return Err(places.at(Fault::Cycle { chain }, tree.node(id)));
    }
    check_given_properties(&tree, &mut resolver, places)?;
    let outputs = match outputs {
        Some(outputs) => top_outputs(&mut resolver, outputs, text)?,
        None => instances::outputs(&tree, &mut resolver, places)?,
    };
    let notes = instances::notes(&tree, &mut resolver, places)?;
    Ok(Resolved {
        configuration: Configuration { resources, outputs },
        notes,
    })
}

fn primitive(
    tree: &Tree<'_>,
    resolver: &mut Resolver<'_>,
    id: usize,
    needed: &mut BTreeSet<usize>,
) -> Result<Resource, Fault> {
    let node = tree.node(id);
    let properties = match &node.body {
        Body::Primitive(Some(properties)) => {
            Some(resolver.value(properties, tree.scope(id), needed)?)
        }
        Body::Primitive(None) | Body::Template { .. } => None,
    };
    Ok(Resource {
        name: node.name.clone(),
        type_name: node.type_name.clone(),
        properties,
        metadata: metadata(tree, resolver, id, needed)?,
    })
}

/// The metadata of a primitive, with that of the templates around it.
fn metadata(
    tree: &Tree<'_>,
    resolver: &mut Resolver<'_>,
    id: usize,
    needed: &mut BTreeSet<usize>,
) -> Result<Option<Value>, Fault> {
    let mut merged: Option<Map<String, Value>> = None;
    let mut depends_on: Vec<Value> = Vec::new();
    let mut met: HashSet<&str> = HashSet::new();
    for around in tree.outwards(id) {
        let Some(Value::Object(own)) = &tree.node(around).metadata else {
            continue;
        };
        for name in own
            .get("dependsOn")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let wanted = name.as_str().unwrap_or_default();
            let found = tree.nearest(wanted, tree.scope(around));
            let primitives = match found {
                Some(found) => tree.primitives_within(found),
                None if tree.may_grow() => Vec::new(),
                None => {
                    let name = wanted.to_owned();
                    return Err(Fault::UnknownDependency { name });
                }
            };
            resolver.take_dependencies(1 + primitives.len())?;
            let to_come = found.is_none().then_some(wanted);
            let names = primitives.iter().map(|&id| tree.node(id).name.as_str());
            for name in names.chain(to_come) {
                if met.insert(name) {
                    depends_on.push(Value::from(name));
                }
            }
            needed.extend(primitives);
        }
        if around == id {
            merged = Some(own.clone());
            continue;
        }
        for key in INHERITED {
            if let Some(policy) = own.get(key) {
                let merged = merged.get_or_insert_default();
                merged.entry(key).or_insert_with(|| policy.clone());
            }
        }
    }
    if !depends_on.is_empty()
        || merged
            .as_ref()
            .is_some_and(|merged| merged.contains_key("dependsOn"))
    {
        merged
            .get_or_insert_default()
            .insert("dependsOn".to_owned(), Value::Array(depends_on));
    }
    Ok(merged.map(Value::Object))
}

/// References in the properties of templates are checked even if no template uses them.
fn check_given_properties(
    tree: &Tree<'_>,
    resolver: &mut Resolver<'_>,
    places: ReferenceLocations<'_, '_>,
) -> Result<(), ExpansionError> {
    for id in tree.all() {
        let node = tree.node(id);
        if let Body::Template {
            properties: Some(properties),
            ..
        } = &node.body
        {
            let resolved = resolver.value(properties, tree.scope(id), &mut BTreeSet::new());
            resolved.map_err(|fault| places.at(fault, node))?;
        }
    }
    Ok(())
}

fn top_outputs(
    resolver: &mut Resolver<'_>,
    outputs: Vec<Output>,
    text: &Text<'_>,
) -> Result<Vec<Output>, ExpansionError> {
    let resolve = |(index, output): (usize, Output)| {
        let value = resolver
            .value(&output.value, Scope::Top, &mut BTreeSet::new())
            .map_err(|fault| {
                let pointer = format!("/outputs/{index}/value");
                text.fault(fault, &pointer, &common::model::LayoutPath::root())
            })?;
        Ok(Output {
            name: output.name,
            value,
        })
    };
    outputs.into_iter().enumerate().map(resolve).collect()
}
