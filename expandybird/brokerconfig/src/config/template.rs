//! `templates`: objects with dynamic attributes, or parts of such objects.

use std::collections::BTreeSet;

use common::node::Node;
use serde_json::Value;

#[derive(Debug)]
pub struct Template {
    pub name: String,
    pub value: Value,
    /// Where the value stands in the document.
    pub pointer: String,
    /// Whether all instances share its object.
    pub is_singleton: bool,
}

/// Every template is an object, and has a name of its own.
pub fn read(spec: &Node<'_>) -> Vec<Template> {
    if spec.value("templates").is_none() {
        spec.fault("templates", "templates is missing; write templates: []");
    }
    let mut names = BTreeSet::new();
    let entries = spec.objects("templates").unwrap_or_default();
    let templates = entries.iter().map(|entry| {
        let name = entry.required("name");
        if !name.is_empty() && !names.insert(name.clone()) {
            entry.fault("name", "another template has this name");
        }
        let value = entry.required_object("template");
        Template {
            name,
            value: value.map_or(Value::Null, |node| Value::Object(node.map.clone())),
            pointer: entry.pointer_of("template"),
            is_singleton: entry.flag("singleton").unwrap_or_default(),
        }
    });
    templates.collect()
}
