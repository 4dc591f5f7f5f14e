//! Walks through a schema and an instance together, with limits, so that it always ends.

use std::collections::HashMap;

use jsonschema::Validator;
use serde_json::{Map, Value};

/// How deep schemas may nest. A `$ref` to its own parent with a default would never end.
pub const DEPTH: usize = 100;
/// Visited schemas per instance. 100,000 is far more than real schemas need and takes milliseconds.
const STEPS: usize = 100_000;
/// Matches of patterns that may backtrack. Each can take a millisecond, and only this walk can be stopped before the
/// validator's own.
const COSTLY_MATCHES: usize = 5_000;

/// Visited parts of keywords, which may not apply: about 20 ns each.
const LOOKS: usize = 3_000_000;
/// Values that defaults add: as many as one YAML text may have. Each place gets a copy.
const FILLED: usize = 1_000_000;
/// Bytes of a text that count as one value or step.
const BYTES_OF_A_STEP: usize = 64;
/// The address of each part is a copy of its parent's address with one more name.
const POINTER_BYTES: usize = 16 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WalkError {
    #[error("its parts never end: they nest deeper than {DEPTH} levels")]
    TooDeep,
    #[error(
        "its parts take more than {STEPS} steps: a part that contains itself never ends; otherwise write fewer keywords, or give fewer values"
    )]
    TooMany,
    #[error(
        "more than {COSTLY_MATCHES} values are matched with patterns that look around or back; \
         write them without (?=, (?!, (?<, \\1 and the like"
    )]
    TooManyMatches,
    #[error(
        "looking for its parts in the value takes more than {LOOKS} steps; write fewer keywords, or give fewer items"
    )]
    TooManyLooks,
    #[error("its defaults add more than {FILLED} values")]
    TooMuchFilled,
    #[error("the names of its parts are longer than {POINTER_BYTES} bytes together")]
    TooLongNames,
    #[error("'{0}' refers to nothing in the schema")]
    UnknownReference(String),
}

/// A part of the schema, and its address in the notation of [`ValidatorMap`].
pub struct At<'s> {
    pub schema: &'s Value,
    pub pointer: String,
}

impl<'s> At<'s> {
    pub fn root(schema: &'s Value) -> Self {
        Self {
            schema,
            pointer: "#".to_owned(),
        }
    }

    pub fn child(&self, keys: &[&str]) -> Option<At<'s>> {
        let mut schema = self.schema;
        let mut pointer = self.pointer.clone();
        for key in keys {
            schema = match schema {
                Value::Object(map) => map.get(*key)?,
                Value::Array(items) => items.get(key.parse::<usize>().ok()?)?,
                _ => return None,
            };
            pointer.push('/');
            pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
        }
        Some(At { schema, pointer })
    }

    /// The number of schemas in a list such as `allOf`.
    pub fn len(&self, key: &str) -> usize {
        let list = self.schema.get(key).and_then(Value::as_array);
        list.map_or(0, Vec::len)
    }

    /// One of the schemas in a list.
    pub fn item(&self, key: &str, index: usize) -> Option<At<'s>> {
        self.child(&[key, &index.to_string()])
    }

    pub fn map(&self, key: &str) -> Option<&'s Map<String, Value>> {
        self.schema.get(key).and_then(Value::as_object)
    }
}

pub struct Walk<'s> {
    root: &'s Value,
    /// The schemas of `patternProperties`, compiled on first use. `None` if it is not a pattern.
    patterns: HashMap<&'s str, Option<Validator>>,
    steps: usize,
    looks: usize,
    filled: usize,
    costly_matches: usize,
}

impl<'s> Walk<'s> {
    pub fn new(root: &'s Value) -> Self {
        Self {
            root,
            patterns: HashMap::new(),
            steps: 0,
            looks: 0,
            filled: 0,
            costly_matches: 0,
        }
    }

    /// Visits one more schema, at this depth.
    pub fn enter(&mut self, at: &At<'s>, depth: usize) -> Result<(), WalkError> {
        self.take_steps(1)?;
        match at.pointer.len() {
            _ if depth > DEPTH => Err(WalkError::TooDeep),
            length if length > POINTER_BYTES => Err(WalkError::TooLongNames),
            _ => Ok(()),
        }
    }

    /// Visits this many parts of a keyword.
    pub fn look(&mut self, parts: usize) -> Result<(), WalkError> {
        self.looks += parts;
        match self.looks > LOOKS {
            true => Err(WalkError::TooManyLooks),
            false => Ok(()),
        }
    }

    /// A copy of a default, within the limit for all defaults.
    pub fn filled(&mut self, default: &Value) -> Result<Value, WalkError> {
        self.filled += weight(default);
        match self.filled > FILLED {
            true => Err(WalkError::TooMuchFilled),
            false => Ok(default.clone()),
        }
    }

    fn take_steps(&mut self, steps: usize) -> Result<(), WalkError> {
        self.steps += steps;
        match self.steps > STEPS {
            true => Err(WalkError::TooMany),
            false => Ok(()),
        }
    }

    pub fn take_match(&mut self, pattern: &str) -> Result<(), WalkError> {
        self.costly_matches += usize::from(goes_back(pattern));
        match self.costly_matches > COSTLY_MATCHES {
            true => Err(WalkError::TooManyMatches),
            false => Ok(()),
        }
    }

    /// A Python search with limits. A pattern that cannot be compiled is rejected before.
    pub fn matches(&mut self, pattern: &'s str, name: &str) -> Result<bool, WalkError> {
        self.take_steps(1 + name.len() / BYTES_OF_A_STEP)?;
        self.take_match(pattern)?;
        let validator = self
            .patterns
            .entry(pattern)
            .or_insert_with(|| super::matcher(pattern));
        let name = Value::String(name.to_owned());
        Ok(validator
            .as_ref()
            .is_some_and(|validator| validator.is_valid(&name)))
    }

    /// The target of a local `$ref`. Remote ones are rejected before.
    pub fn referred(&self, at: &At<'s>) -> Result<Option<At<'s>>, WalkError> {
        let Some(reference) = at.schema.get("$ref").and_then(Value::as_str) else {
            return Ok(None);
        };
        let unknown = || WalkError::UnknownReference(reference.to_owned());
        let pointer = reference.strip_prefix('#').ok_or_else(unknown)?;
        let decoded = percent_encoding::percent_decode_str(pointer).decode_utf8_lossy();
        let schema = self.root.pointer(&decoded).ok_or_else(unknown)?;
        Ok(Some(At {
            schema,
            pointer: format!("#{decoded}"),
        }))
    }
}

/// The number of values. Long texts count by their bytes.
fn weight(value: &Value) -> usize {
    let inner = match value {
        Value::String(text) => text.len() / BYTES_OF_A_STEP,
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| 1 + key.len() / BYTES_OF_A_STEP + weight(value))
            .sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    1 + inner
}

/// Whether a pattern may backtrack, by its characters. Without any of these, a search is linear in the text.
fn goes_back(pattern: &str) -> bool {
    const LOOKING: [&str; 8] = ["(?=", "(?!", "(?<", "(?>", "(?(", "(?P", "\\k", "\\g"];
    let refers_back = || {
        let pairs = pattern.as_bytes().windows(2);
        pairs.clone().any(|pair| matches!(pair, [b'\\', b'1'..=b'9']))
            // Possessive: `a*+`, `a++`, `a?+`, `a{2}+`.
            || pairs.clone().any(|pair| matches!(pair, [b'*' | b'+' | b'?' | b'}', b'+']))
    };
    LOOKING.iter().any(|construct| pattern.contains(construct)) || refers_back()
}
