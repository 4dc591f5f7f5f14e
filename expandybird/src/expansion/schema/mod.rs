//! The schema of a template: adds defaults, then validates the properties.
//!
//! Responsible for JSON Schema draft 4 as Google's Deployment Manager applies it: formats are not checked, `1.0` is not
//! an integer, a boolean is not a number, remote references are rejected. It does not know where the schema comes from:
//! [`super::files`] finds it and its imports.
//!
//! Patterns are Python's: [`pattern`] translates them.

mod adapt;
mod defaults;
mod marks;
mod pattern;
mod refusal;
mod walk;

use std::collections::BTreeSet;

use common::api::error::ErrorCode;
use jsonschema::{Draft, PatternOptions, ValidationError, Validator, ValidatorMap};
use serde_json::{Map, Value};

use crate::cache::{Cache, Key};
use adapt::Originals;
use common::yaml::{self, Duplicates};
pub use refusal::Refusal;
use walk::WalkError;

/// How many compiled schemas are cached. Compiling one takes about a millisecond. A deployment has about a dozen.
const KEPT: usize = 256;
/// The maximum backtracking steps of a pattern. A search that needs more would practically never end.
const BACKTRACK_STEPS: usize = 100_000;
/// Bytes of a compiled pattern.
const PATTERN_BYTES: usize = 1 << 20;

/// How many faults of one value are reported: enough to correct at once, and each quotes a part of the value.
const REFUSALS: usize = 100;

/// Compiled schemas, by their text.
pub type SchemaCache = Cache<Schema>;

pub fn cache() -> SchemaCache {
    Cache::new(KEPT)
}

#[derive(Debug, thiserror::Error)]
pub enum SchemaFault {
    #[error("Invalid schema '{schema}': {reason}")]
    Invalid { schema: String, reason: String },
    #[error("Invalid schema '{schema}': it is too large: {reason}")]
    TooLarge { schema: String, reason: String },
    #[error("Invalid schema '{schema}': {reason}")]
    TooCostly { schema: String, reason: String },
    #[error("File '{file}' requested in schema '{schema}' but not included with imports.")]
    MissingImport { file: String, schema: String },
    #[error("Invalid properties for '{template}': {}", sentence(.refusals))]
    Refused {
        template: String,
        refusals: Vec<Refusal>,
    },
}

impl SchemaFault {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Invalid { .. } | Self::MissingImport { .. } => ErrorCode::InvalidSchema,
            Self::TooLarge { .. } => ErrorCode::YamlTooLarge,
            Self::TooCostly { .. } => ErrorCode::PatternTooCostly,
            Self::Refused { refusals, .. } => {
                let costly = refusals.iter().find(|refusal| refusal.is_too_costly);
                costly.map_or(ErrorCode::InvalidProperties, Refusal::code)
            }
        }
    }
}

fn sentence(refusals: &[Refusal]) -> String {
    let all: Vec<_> = refusals.iter().map(ToString::to_string).collect();
    all.join("; ")
}

/// `/a/0/b.c` as `.a[0]['b.c']`.
pub fn json_path(pointer: &str) -> String {
    let step = |segment: &str| match segment.replace("~1", "/").replace("~0", "~") {
        index if index.parse::<usize>().is_ok() => format!("[{index}]"),
        key if key.contains(['.', '[', ']', '\'', ' ']) => format!("['{key}']"),
        key => format!(".{key}"),
    };
    pointer.split('/').skip(1).map(step).collect()
}

/// A compiled schema.
#[derive(Debug)]
pub struct Schema {
    /// In the form for the validator.
    document: Value,
    validator: Validator,
    originals: Originals,
    /// Validators of every part of the schema, without `required`. They find the branch of `anyOf` that applies while
    /// defaults are added. Only for schemas that have branches.
    branches: Option<ValidatorMap>,
    has_marks: bool,
    /// Files that the template requires.
    pub imports: Vec<String>,
    /// The Jinja text that its users read after a deploy (`info.notes`).
    pub notes: Option<String>,
}

impl Schema {
    /// Compiled now, or from the cache.
    pub fn read(
        name: &str,
        text: &str,
        cache: &SchemaCache,
    ) -> Result<std::sync::Arc<Self>, SchemaFault> {
        cache.get_or_make(Key::of([text]), || Self::compile(name, text))
    }

    fn compile(name: &str, text: &str) -> Result<Self, SchemaFault> {
        let invalid = |reason: String| SchemaFault::Invalid {
            schema: name.to_owned(),
            reason,
        };
        let read = yaml::read(text, &yaml::Limits::DEFAULT, Duplicates::Warn).map_err(|error| {
            let reason = format!("{error}\n{}", error.excerpt());
            let reason = reason.trim_end().to_owned();
            match error.kind.is_limit() {
                true => SchemaFault::TooLarge {
                    schema: name.to_owned(),
                    reason,
                },
                false => invalid(reason),
            }
        })?;
        let mut document = match read.value {
            Value::Null => Value::Object(Map::new()),
            Value::Object(map) => Value::Object(map),
            other => {
                return Err(invalid(format!(
                    "it is {}, not a map",
                    super::error::kind(&other)
                )));
            }
        };
        let imports = imports(&document).map_err(&invalid)?;
        let notes = notes(&document).map_err(&invalid)?;
        let originals = adapt::adapt(&mut document).map_err(&invalid)?;
        let reason = |error: &ValidationError<'_>| invalid(refusal::of_schema(error, text));
        let validator = options().build(&document).map_err(|error| reason(&error))?;
        let branches = match defaults::has_branches(&document) {
            true => Some(branches(&document).map_err(|error| reason(&error))?),
            false => None,
        };
        Ok(Self {
            has_marks: marks::has_marks(&document),
            document,
            validator,
            originals,
            branches,
            imports,
            notes,
        })
    }

    /// Adds the defaults: returns the properties that the template sees.
    pub fn fill(&self, name: &str, properties: &mut Value) -> Result<(), SchemaFault> {
        defaults::fill(&self.document, self.branches.as_ref(), properties)
            .map_err(|error| endless(name, &error))
    }

    /// JSON pointers to the properties that it marks as secret.
    pub fn marked(&self, name: &str, properties: &Value) -> Result<BTreeSet<String>, SchemaFault> {
        match self.has_marks {
            true => {
                marks::marked(&self.document, properties).map_err(|error| endless(name, &error))
            }
            false => Ok(BTreeSet::new()),
        }
    }

    /// Validates. No fault quotes a marked value, or a value that contains one.
    pub fn check(
        &self,
        template: &str,
        properties: &Value,
        marked: &BTreeSet<String>,
    ) -> Result<(), SchemaFault> {
        let refusing = refusal::Refusing {
            schema: &self.document,
            originals: &self.originals,
            marked,
        };
        let errors = self.validator.iter_errors(properties).take(REFUSALS);
        let refusals: Vec<_> = errors.map(|error| refusing.refusal(&error)).collect();
        match refusals.is_empty() {
            true => Ok(()),
            false => Err(SchemaFault::Refused {
                template: template.to_owned(),
                refusals,
            }),
        }
    }
}

fn endless(schema: &str, error: &WalkError) -> SchemaFault {
    let (schema, reason) = (schema.to_owned(), error.to_string());
    match error {
        WalkError::TooManyMatches => SchemaFault::TooCostly { schema, reason },
        WalkError::TooDeep
        | WalkError::TooMany
        | WalkError::TooManyLooks
        | WalkError::TooMuchFilled
        | WalkError::TooLongNames
        | WalkError::UnknownReference(_) => SchemaFault::Invalid { schema, reason },
    }
}

fn options<'i>() -> jsonschema::ValidationOptions<'i> {
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(BACKTRACK_STEPS)
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES);
    jsonschema::options()
        .with_draft(Draft::Draft4)
        .should_validate_formats(false)
        .with_pattern_options(patterns)
        .offline()
}

fn branches(document: &Value) -> Result<ValidatorMap, ValidationError<'static>> {
    let mut relaxed = document.clone();
    defaults::forget_required(&mut relaxed);
    options().build_map(&relaxed)
}

/// A validator of one translated pattern, with the same limits as in a schema. `None` if it is not a pattern.
fn matcher(pattern: &str) -> Option<Validator> {
    options()
        .build(&serde_json::json!({ "pattern": pattern }))
        .ok()
}

/// The `imports` of the schema: `[{path, name?}]`.
fn imports(document: &Value) -> Result<Vec<String>, String> {
    let entries = match document.get("imports") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(entries)) => entries,
        Some(other) => {
            return Err(format!(
                "'imports' is {}, not a list",
                super::error::kind(other)
            ));
        }
    };
    let name = |entry: &Value| {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
        text("path")
            .map(|path| text("name").unwrap_or(path))
            .ok_or_else(|| "an entry of 'imports' has no 'path'".to_owned())
    };
    entries.iter().map(name).collect()
}

fn notes(document: &Value) -> Result<Option<String>, String> {
    match document.pointer("/info/notes") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(format!(
            "'info.notes' is {}, not text",
            super::error::kind(other)
        )),
    }
}

#[cfg(test)]
mod tests;
