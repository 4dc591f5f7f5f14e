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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn applied(schema: &str, properties: Value) -> Result<Value, SchemaFault> {
        let (schema, mut properties) = (Schema::compile("t.schema", schema)?, properties);
        schema.fill("t.schema", &mut properties)?;
        let marked = schema.marked("t.schema", &properties)?;
        schema.check("t", &properties, &marked)?;
        Ok(properties)
    }

    fn refused(schema: &str, properties: Value) -> Vec<String> {
        match applied(schema, properties.clone()) {
            Err(SchemaFault::Refused { refusals, .. }) => {
                refusals.iter().map(ToString::to_string).collect()
            }
            other => panic!("{properties} under {schema}: {other:?}"),
        }
    }

    #[test]
    fn a_boolean_and_a_float_are_no_integers_and_a_boolean_is_no_number() {
        for kind in ["integer", "number"] {
            let schema = format!("properties: {{a: {{type: {kind}}}}}");
            assert_eq!(refused(&schema, json!({"a": true})).len(), 1);
            assert!(applied(&schema, json!({"a": 1})).is_ok());
        }
        assert_eq!(
            refused("properties: {a: {type: integer}}", json!({"a": 1.0})).len(),
            1
        );
    }

    #[test]
    fn all_refusals_come_together_each_with_its_path() {
        let schema = "required: [z]\nproperties: {a: {type: string}, b: {items: {type: integer}}}";
        let mut found = refused(schema, json!({"a": 1, "b": [1, "x"]}));
        found.sort();
        assert_eq!(
            found,
            [
                "\"z\" is a required property",
                "a: 1 is not of type \"string\"",
                "b[1]: \"x\" is not of type \"integer\"",
            ]
        );
    }

    #[test]
    fn no_refusal_tells_what_is_marked_as_secret() {
        let schema = r"{properties: {
            p: {writeOnly: true, type: integer, pattern: '^x', minLength: 90, enum: [1]},
            m: {format: password, properties: {in: {type: integer}}},
            o: {maxProperties: 0, not: {}, properties: {t: {writeOnly: true}}, enum: [{}]},
            l: {uniqueItems: true, items: {format: password}}, n: {type: integer}}}";
        let given = json!({
            "p": "hunter2", "m": {"in": "hunter2"}, "o": {"t": "hunter2"}, "l": ["hunter2", "hunter2"], "n": "public",
        });
        let found = refused(schema, given);
        assert!(found.len() >= 9, "{found:?}");
        assert!(
            !found.iter().any(|text| text.contains("hunter")),
            "{found:#?}"
        );
        assert!(found.contains(&r#"n: "public" is not of type "integer""#.to_owned()));
        assert!(
            found.contains(&r#"p: (redacted) does not match "^x""#.to_owned()),
            "{found:#?}"
        );
    }

    #[test]
    fn formats_are_not_checked_and_patterns_search() {
        assert!(applied("properties: {a: {format: ipv4}}", json!({"a": "x"})).is_ok());
        assert!(applied("properties: {a: {pattern: 'b+'}}", json!({"a": "abc"})).is_ok());
        assert!(applied("properties: {a: {pattern: '^(?=x)'}}", json!({"a": "xy"})).is_ok());
    }

    #[test]
    fn patterns_are_pythons_and_messages_show_them_as_they_were_written() {
        let schema = r"{properties: {a: {pattern: '(?i)^x\d+$'}}, patternProperties: {'(?P<c>b)(?P=c)$': {type: integer}},
            additionalProperties: false}";
        assert!(applied(schema, json!({"a": "X\u{661}\n", "abb": 1})).is_ok());
        let mut found = refused(schema, json!({"a": "y", "abb": "z", "ab": 1}));
        found.sort();
        assert_eq!(
            found,
            [
                "Additional properties are not allowed ('ab' was unexpected)",
                r#"a: "y" does not match "(?i)^x\d+$""#,
                r#"abb: "z" is not of type "integer""#,
            ]
        );
    }

    #[test]
    fn a_property_called_as_a_keyword_is_no_keyword_and_data_is_no_schema() {
        let schema = r"{properties: {patternProperties: {type: string}, pattern: {enum: [{pattern: '('}]}},
            default: {pattern: '('}}";
        assert!(
            applied(
                schema,
                json!({"patternProperties": "x", "pattern": {"pattern": "("}})
            )
            .is_ok()
        );
    }

    #[test]
    fn an_unreadable_pattern_is_an_invalid_schema_that_names_it() {
        for schema in ["pattern: 'a(?>b)'", "patternProperties: {'a(?>b)': {}}"] {
            let fault = applied(schema, json!({})).unwrap_err().to_string();
            assert!(
                fault.contains("'a(?>b)'") && fault.contains("is not supported"),
                "{fault}"
            );
        }
    }

    #[test]
    fn choices_may_be_given_twice_or_not_at_all() {
        let schema = "properties: {a: {enum: [x, 1, x, 1.0, [1]]}, b: {enum: []}}";
        assert!(applied(schema, json!({"a": "x"})).is_ok());
        assert!(applied(schema, json!({"a": [1]})).is_ok());
        assert_eq!(refused(schema, json!({"a": "y", "b": 1})).len(), 2);
    }

    #[test]
    fn multiples_are_those_of_the_decimals_as_written() {
        for (value, is_multiple) in [
            (0.3, true),
            (0.7, true),
            (1.1, true),
            (3.0, true),
            (0.35, false),
        ] {
            let found = applied("properties: {a: {multipleOf: 0.1}}", json!({"a": value}));
            assert_eq!(found.is_ok(), is_multiple, "{value}");
        }
    }

    #[test]
    fn a_reference_leads_into_pattern_properties_as_they_were_written() {
        let schema =
            "{patternProperties: {'^a/b$': {default: {x: 1}, properties: {x: {default: 2}}}},
            properties: {c: {$ref: '#/patternProperties/%5Ea~1b$'}}}";
        let filled = applied(schema, json!({"a/b": {}})).unwrap();
        assert_eq!(filled, json!({"a/b": {"x": 2}, "c": {"x": 1}}));
    }

    #[test]
    fn a_pattern_that_never_ends_is_refused_in_time() {
        let text = format!("{}!", "a".repeat(60));
        let found = refused(
            r"properties: {a: {pattern: '^(?=(a+)+$)\1$'}}",
            json!({"a": text}),
        );
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn a_pattern_given_up_has_a_code_of_its_own_and_many_are_not_even_begun() {
        let schema = r"properties: {a: {items: {pattern: '^(a|a)*\1b'}}}";
        let text = format!("{}!", "a".repeat(60));
        for count in [1, 100_000] {
            let fault = applied(schema, json!({"a": vec![text.as_str(); count]})).unwrap_err();
            assert_eq!(fault.code(), ErrorCode::PatternTooCostly, "{fault}");
        }
    }

    #[test]
    fn a_schema_of_too_many_aliases_has_a_code_of_its_own() {
        let more: String = (1..30)
            .map(|n| format!("a{n}: &a{n} [*a{m}, *a{m}]\n", m = n - 1))
            .collect();
        let fault = Schema::compile("t.schema", &format!("a0: &a0 [x, x]\n{more}")).unwrap_err();
        assert_eq!(fault.code(), ErrorCode::YamlTooLarge, "{fault}");
    }

    #[test]
    fn an_unknown_type_and_a_remote_reference_are_invalid_schemas() {
        for (schema, named) in [
            ("properties: {a: {type: strin}}", "strin"),
            (
                "properties: {a: {$ref: 'http://example.com/x'}}",
                "example.com",
            ),
            ("[1]", "a list"),
            ("imports: [{name: x}]", "path"),
            ("a: [", "line 2"),
        ] {
            let fault = Schema::compile("t.schema", schema).unwrap_err().to_string();
            assert!(fault.starts_with("Invalid schema 't.schema': "), "{fault}");
            assert!(fault.contains(named), "{fault}");
        }
    }

    #[test]
    fn a_path_shows_what_a_pointer_points_to() {
        assert_eq!(json_path("/a/0/b.c/d~1e"), ".a[0]['b.c'].d/e");
    }
}
