//! The location of a faulty reference: in the configuration by its line, in the output of a template by the template
//! only.

use common::api::error::Location;
use serde_json::Value;

use super::super::error::{ExpansionError, Fault};
use super::super::reading::Text;
use super::super::tree::{Body, Node};

/// The configuration, and its nodes.
#[derive(Clone, Copy)]
pub struct ReferenceLocations<'a, 't> {
    pub nodes: &'a [Node],
    pub text: &'a Text<'t>,
}

impl ReferenceLocations<'_, '_> {
    pub fn at(&self, fault: Fault, node: &Node) -> ExpansionError {
        let index = self.nodes.iter().position(|top| top.path == node.path);
        let mut error = match index {
            Some(index) => {
                let pointer = format!("/resources/{index}{}", within(&fault, node));
                self.text.fault(fault, &pointer, &node.path)
            }
            None => fault.at(Location {
                file: Some(node.origin.file.clone()),
                path: Some(node.path.to_string()),
                ..Location::default()
            }),
        };
        error.location.resource = Some(node.name.to_string());
        error
    }
}

/// The pointer to the fault, relative to the resource.
fn within(fault: &Fault, node: &Node) -> String {
    if let Fault::UnknownDependency { .. } = fault {
        return "/metadata/dependsOn".to_owned();
    }
    let properties = match &node.body {
        Body::Primitive(properties) | Body::Template { properties, .. } => properties.as_ref(),
    };
    let found = properties
        .zip(fault.reference())
        .and_then(|(properties, reference)| mention(properties, reference));
    found.map_or_else(String::new, |found| format!("/properties{found}"))
}

/// The pointer to the first text that mentions the reference.
fn mention(value: &Value, reference: &str) -> Option<String> {
    match value {
        Value::String(text) => text.contains(reference).then(String::new),
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            mention(item, reference).map(|rest| format!("/{index}{rest}"))
        }),
        Value::Object(map) => map.iter().find_map(|(key, value)| {
            let key = key.replace('~', "~0").replace('/', "~1");
            mention(value, reference).map(|rest| format!("/{key}{rest}"))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}
