//! Converts a schema for Python's validator to a schema for ours with the same meaning.
//!
//! - `pattern` and the names of `patternProperties` are translated ([`super::pattern`]);
//! - an `enum` may contain a value twice, or be empty: then it rejects every value.
//!
//! Any part of the file may be a schema, because a `$ref` may lead anywhere. Only parts that must be data (`default`,
//! `enum`) stay unchanged.

use std::collections::{BTreeMap, HashMap, HashSet};

use indexmap::IndexMap;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Map, Value};

use super::pattern;

/// The written patterns, by their translation.
#[derive(Debug, Default)]
pub struct Originals(HashMap<String, String>);

impl Originals {
    /// The pattern as its author wrote it.
    pub fn of<'p>(&'p self, translated: &'p str) -> &'p str {
        self.0.get(translated).map_or(translated, String::as_str)
    }
}

/// Fails with a sentence about the faulty pattern.
pub fn adapt(schema: &mut Value) -> Result<Originals, String> {
    let mut originals = Originals::default();
    originals.schema(schema)?;
    Ok(originals)
}

impl Originals {
    fn schema(&mut self, schema: &mut Value) -> Result<(), String> {
        match schema {
            Value::Object(map) => self.keywords(map),
            Value::Array(items) => items.iter_mut().try_for_each(|item| self.schema(item)),
            _ => Ok(()),
        }
    }

    fn keywords(&mut self, schema: &mut Map<String, Value>) -> Result<(), String> {
        for (keyword, value) in schema.iter_mut() {
            match (keyword.as_str(), value) {
                ("default" | "enum", _) => {}
                ("pattern", Value::String(pattern)) => *pattern = self.translated(pattern)?,
                ("patternProperties", Value::Object(parts)) => self.names(parts)?,
                ("$ref", Value::String(reference)) => *reference = followed(reference),
                // The names in it are not keywords.
                ("properties" | "definitions" | "dependencies", Value::Object(parts)) => {
                    parts.values_mut().try_for_each(|part| self.schema(part))?;
                }
                (_, value) => self.schema(value)?,
            }
        }
        choices(schema);
        Ok(())
    }

    /// The patterns of `patternProperties`. If several have the same meaning, all apply.
    fn names(&mut self, parts: &mut Map<String, Value>) -> Result<(), String> {
        let mut by_name: IndexMap<String, Vec<Value>> = IndexMap::new();
        for (name, mut part) in std::mem::take(parts) {
            self.schema(&mut part)?;
            by_name
                .entry(self.translated(&name)?)
                .or_default()
                .push(part);
        }
        let together = by_name
            .into_iter()
            .map(|(name, mut same)| match same.len() {
                1 => (name, same.remove(0)),
                _ => (name, serde_json::json!({ "allOf": same })),
            });
        parts.extend(together);
        Ok(())
    }

    fn translated(&mut self, pattern: &str) -> Result<String, String> {
        let translated = pattern::translate(pattern)
            .map_err(|error| format!("the pattern '{pattern}' cannot be read: {error}"))?;
        if translated != pattern {
            self.0.insert(translated.clone(), pattern.to_owned());
        }
        Ok(translated)
    }
}

/// A reference through `patternProperties`, with the translated names.
fn followed(reference: &str) -> String {
    let mut is_pattern = false;
    let step = |step: &str| {
        if !std::mem::replace(&mut is_pattern, step == "patternProperties") {
            return step.to_owned();
        }
        let name = percent_decode_str(step).decode_utf8_lossy();
        let name = name.replace("~1", "/").replace("~0", "~");
        let name = pattern::translate(&name).unwrap_or(name);
        let name = name.replace('~', "~0").replace('/', "~1");
        utf8_percent_encode(&name, NON_ALPHANUMERIC).to_string()
    };
    let steps: Vec<_> = reference.split('/').map(step).collect();
    steps.join("/")
}

fn choices(schema: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = schema.get_mut("enum") else {
        return;
    };
    let mut met = HashSet::with_capacity(choices.len());
    choices.retain(|choice| met.insert(identity(choice)));
    if choices.is_empty() {
        schema.remove("enum");
        schema.insert("not".to_owned(), Value::Object(Map::new()));
    }
}

/// A text that is the same for two values if the validator treats them as equal: `1` and `1.0` are equal, and the order
/// of fields does not matter.
fn identity(value: &Value) -> String {
    let mut text = String::new();
    write_identity(value, &mut text);
    text
}

fn write_identity(value: &Value, text: &mut String) {
    match value {
        Value::Number(number) => {
            // All zeros are equal.
            let number = number.as_f64().unwrap_or_default() + 0.0;
            text.push_str(&format!("{:x}", number.to_bits()));
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write_identity(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Object(map) => {
            let sorted: BTreeMap<&String, &Value> = map.iter().collect();
            text.push('{');
            for (key, value) in sorted {
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write_identity(value, text);
                text.push(',');
            }
            text.push('}');
        }
        other => text.push_str(&other.to_string()),
    }
}
