//! JSON schemas of parameters.

use std::fmt;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

/// The limit of OSB.
const SCHEMA_BYTES: usize = 64 * 1024;
/// A larger pattern is refused.
const PATTERN_BYTES: usize = 1024 * 1024;
/// Further faults of one request are not listed.
const LISTED: usize = 10;

pub struct Schema {
    source: Value,
    validator: Validator,
}

impl Schema {
    /// A schema that need not say its draft. Then it is draft 6, as with the Inter-operator.
    pub fn of_any_draft(source: &Value) -> Result<Self, String> {
        let mut source = source.clone();
        if let Some(map) = source.as_object_mut() {
            let draft = "http://json-schema.org/draft-06/schema#";
            map.entry("$schema").or_insert_with(|| draft.into());
        }
        Self::read(&source)
    }

    /// A schema that says which version of JSON Schema it is written in, as OSB wants it.
    pub fn read(source: &Value) -> Result<Self, String> {
        if source.get("$schema").and_then(Value::as_str).is_none() {
            return Err("the schema has no $schema".to_owned());
        }
        if source.to_string().len() > SCHEMA_BYTES {
            return Err("the schema is larger than 64 kB".to_owned());
        }
        if let Some(reference) = external(source) {
            return Err(format!(
                "the schema refers to {reference:?}, outside of itself"
            ));
        }
        let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES);
        let options = jsonschema::options()
            .with_pattern_options(patterns)
            .offline();
        let validator = options
            .build(source)
            .map_err(|error| format!("the schema is not valid: {error}"))?;
        Ok(Self {
            source: source.clone(),
            validator,
        })
    }

    /// Why the parameters do not fit, with the path of each fault.
    pub fn faults(&self, parameters: &Value) -> Option<String> {
        let faults = self.validator.iter_errors(parameters).take(LISTED);
        let faults: Vec<_> = faults
            .map(|fault| {
                let path = fault.instance_path().to_string();
                let masked = fault.masked_with("the value");
                format!("parameters{path}: {masked}")
            })
            .collect();
        (!faults.is_empty()).then(|| faults.join("; "))
    }

    /// The parameters without those that the schema marks as secret (`writeOnly`, or `format: password`).
    pub fn without_secrets(&self, parameters: &Value) -> Value {
        let mut shown = parameters.clone();
        hide(&self.source, &mut shown);
        shown
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").finish_non_exhaustive()
    }
}

/// The first reference that leaves the document.
fn external(schema: &Value) -> Option<&str> {
    match schema {
        Value::Object(map) => {
            let own = map.get("$ref").and_then(Value::as_str);
            let own = own.filter(|reference| !reference.starts_with('#'));
            own.or_else(|| map.values().find_map(external))
        }
        Value::Array(items) => items.iter().find_map(external),
        _ => None,
    }
}

fn hide(schema: &Value, value: &mut Value) {
    let (Some(properties), Some(map)) = (schema["properties"].as_object(), value.as_object_mut())
    else {
        return;
    };
    map.retain(|key, _| !properties.get(key).is_some_and(is_secret));
    for (key, value) in map {
        if let Some(schema) = properties.get(key) {
            hide(schema, value);
        }
    }
}

fn is_secret(schema: &Value) -> bool {
    schema["writeOnly"] == true || schema["format"] == "password"
}
