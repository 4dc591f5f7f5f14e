//! The JSON Schema of a Template's parameters: what a template instance takes as its properties.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::dialect::Dialect;
use crate::reference::openshift;
use crate::template::{Kind, Parameter, Template};

/// One property a parameter. It accepts what processing accepts: numbers and booleans become text.
pub fn schema(template: &Template) -> Value {
    let structured = structured(template);
    let property = |parameter: &Parameter| {
        let is_structured = structured.contains(parameter.name.as_str());
        (parameter.name.clone(), property(parameter, is_structured))
    };
    let properties: Map<String, Value> = template.parameters.iter().map(property).collect();
    let required = template
        .parameters
        .iter()
        .filter(|one| one.required && one.value.is_empty() && one.generate.is_none());
    let required: Vec<&str> = required.map(|one| &*one.name).collect();
    let mut schema = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    let about = [
        ("title", "openshift.io/display-name"),
        ("description", "description"),
    ];
    let about = about.into_iter().filter_map(|(key, annotation)| {
        let text = template.annotation(annotation)?;
        Some((key.to_owned(), Value::from(text)))
    });
    schema["info"] = Value::Object(about.collect());
    schema
}

fn property(parameter: &Parameter, is_structured: bool) -> Value {
    let mut property = match parameter.kind {
        Some(Kind::Int) => json!({"type": ["integer", "string"], "pattern": "^[+-]?[0-9]+$"}),
        Some(Kind::Bool) => json!({"type": ["boolean", "string"], "pattern": "^(true|false)$"}),
        Some(Kind::Base64) => json!({"type": "string", "contentEncoding": "base64"}),
        _ if is_structured => json!({}),
        Some(Kind::String) | None => json!({"type": ["string", "number", "boolean"]}),
    };
    let texts = [
        ("title", parameter.display_name.as_deref()),
        ("description", parameter.description.as_deref()),
    ];
    for (key, text) in texts {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            property[key] = Value::from(text);
        }
    }
    if !parameter.value.is_empty() {
        property["default"] = default(parameter);
    }
    if parameter.required {
        property["minLength"] = Value::from(1);
    }
    if parameter.kind.is_some_and(|kind| kind != Kind::String) && !parameter.required {
        allow_empty(&mut property);
    }
    if parameter.is_secret() {
        property["writeOnly"] = Value::Bool(true);
    }
    property
}

/// An empty text is no value, of whatever type.
fn allow_empty(property: &mut Value) {
    if let Some(pattern) = property.get("pattern").and_then(Value::as_str) {
        property["pattern"] = Value::from(format!("^$|{pattern}"));
    }
}

/// With its type, where it reads as one.
fn default(parameter: &Parameter) -> Value {
    let text = &parameter.value;
    let typed = match parameter.kind {
        Some(Kind::Int) => text.parse::<i64>().ok().map(Value::from),
        Some(Kind::Bool) => text.parse::<bool>().ok().map(Value::from),
        _ => None,
    };
    typed.unwrap_or_else(|| Value::from(text.as_str()))
}

/// The parameters whose values may be lists and maps: those of `${{P}}`.
fn structured(template: &Template) -> HashSet<&str> {
    let mut found = HashSet::new();
    if template.dialect == Dialect::OpenShift {
        let objects = template.objects.iter();
        objects.for_each(|object| collect(object, &mut found));
    }
    found
}

fn collect<'t>(value: &'t Value, found: &mut HashSet<&'t str>) {
    match value {
        Value::String(text) => found.extend(openshift::whole(text)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(map) => map.values().for_each(|value| collect(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
