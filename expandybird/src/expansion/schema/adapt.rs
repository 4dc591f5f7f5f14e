//! Makes a schema that Python's validator takes one that ours takes, and means the same by it.
//!
//! - `pattern` and the names of `patternProperties` are translated ([`super::pattern`]);
//! - an `enum` may hold a value twice, and nothing at all: then it refuses every value.
//!
//! Schemas may stand anywhere, for a `$ref` may lead anywhere; only what can be nothing but data
//! (`default`, `enum`) is left alone.

use std::collections::HashMap;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Map, Value};

use super::pattern;

/// Patterns as they were written, by their translation.
#[derive(Debug, Default)]
pub struct Originals(HashMap<String, String>);

impl Originals {
    /// The pattern as its author knows it.
    pub fn of<'p>(&'p self, translated: &'p str) -> &'p str {
        self.0.get(translated).map_or(translated, String::as_str)
    }
}

/// Fails with a sentence on the pattern that is none.
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
                // The names in there are no keywords.
                ("properties" | "definitions" | "dependencies", Value::Object(parts)) => {
                    parts.values_mut().try_for_each(|part| self.schema(part))?;
                }
                (_, value) => self.schema(value)?,
            }
        }
        choices(schema);
        Ok(())
    }

    /// Those of `patternProperties`; two that mean the same both count.
    fn names(&mut self, parts: &mut Map<String, Value>) -> Result<(), String> {
        for (name, mut part) in std::mem::take(parts) {
            self.schema(&mut part)?;
            let name = self.translated(&name)?;
            let part = match parts.remove(&name) {
                None => part,
                Some(other) => serde_json::json!({ "allOf": [other, part] }),
            };
            parts.insert(name, part);
        }
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

/// A reference that leads through `patternProperties`, by the names that they have now.
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
    let all = std::mem::take(choices);
    for choice in all {
        if !choices.iter().any(|known| is_same(known, &choice)) {
            choices.push(choice);
        }
    }
    if choices.is_empty() {
        schema.remove("enum");
        schema.insert("not".to_owned(), Value::Object(Map::new()));
    }
}

/// As the validator's own rule has it, `1` and `1.0` are one value.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let same = |(key, a): (&String, &Value)| b.get(key).is_some_and(|b| is_same(a, b));
            a.len() == b.len() && a.iter().all(same)
        }
        _ => a == b,
    }
}
