//! The faults of a validator as sentences for users: short, with advice, and without secrets.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};
use std::ops::Bound;

use common::api::error::ErrorCode;
use common::model::limits::MESSAGE_CHARS;
use common::redact::REDACTED;
use common::yaml;
use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use super::adapt::Originals;
use super::{BACKTRACK_STEPS, json_path};

/// How many choices an error lists.
const LISTED: usize = 10;
/// The types of draft 4.
const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];

/// One fault that the schema finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// JSON pointer into the properties. Empty for the properties as a whole.
    pub pointer: String,
    pub message: String,
    /// Unknown whether the value is valid: matching reached its limit.
    pub is_too_costly: bool,
}

impl Refusal {
    pub fn code(&self) -> ErrorCode {
        match self.is_too_costly {
            true => ErrorCode::PatternTooCostly,
            false => ErrorCode::InvalidProperties,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointer.as_str() {
            "" => f.write_str(&self.message),
            pointer => write!(
                f,
                "{}: {}",
                json_path(pointer).trim_start_matches('.'),
                self.message
            ),
        }
    }
}

/// The context of a fault.
pub struct Refusing<'a> {
    /// The schema in the form for the validator.
    pub schema: &'a Value,
    pub originals: &'a Originals,
    /// JSON pointers to secrets.
    pub marked: &'a BTreeSet<String>,
}

impl Refusing<'_> {
    pub fn refusal(&self, error: &ValidationError<'_>) -> Refusal {
        let pointer = error.instance_path().as_str();
        let is_secret = is_touched(self.marked, pointer);
        let shown = match is_secret {
            true => REDACTED.to_owned(),
            false => excerpt(error.instance()),
        };
        let mut is_too_costly = false;
        let message = match error.kind() {
            ValidationErrorKind::BacktrackLimitExceeded { .. } => {
                is_too_costly = true;
                format!(
                    "the schema's pattern takes more than {BACKTRACK_STEPS} steps here; \
                     write it without repetitions within repetitions"
                )
            }
            ValidationErrorKind::Pattern { pattern } => {
                let pattern = self.originals.of(pattern);
                shown + &bounded(&format_args!(" does not match \"{pattern}\""))
            }
            ValidationErrorKind::Enum { options } => {
                let given = (!is_secret).then(|| error.instance().as_ref());
                shown + &choices(options, given)
            }
            ValidationErrorKind::Required { property } => {
                let message = bounded(error);
                match self.demanding(error, property) {
                    Some(name) => format!("{message}, because '{name}' is given"),
                    None => message,
                }
            }
            _ if is_secret => bounded(&error.masked_with(REDACTED)),
            _ => bounded(error),
        };
        Refusal {
            pointer: pointer.to_owned(),
            message,
            is_too_costly,
        }
    }

    /// The entry of `dependencies` that requires a property.
    fn demanding(&self, error: &ValidationError<'_>, property: &Value) -> Option<String> {
        let (around, within) = error.schema_path().as_str().rsplit_once("/dependencies")?;
        let entries = self.schema.pointer(&format!("{around}/dependencies"))?;
        // If the entry is a schema, its address contains the name.
        if let Some(name) = within
            .strip_prefix('/')
            .and_then(|rest| rest.split('/').next())
        {
            let name = name.replace("~1", "/").replace("~0", "~");
            if entries.get(&name).is_some_and(Value::is_object) {
                return Some(name);
            }
        }
        let demands = |list: &Value| list.as_array().is_some_and(|list| list.contains(property));
        let mut entries = entries.as_object()?.iter();
        let found = entries
            .find(|(name, list)| demands(list) && error.instance().get(name.as_str()).is_some());
        found.map(|(name, _)| name.clone())
    }
}

/// A fault of the schema itself, by its line in the file.
pub fn of_schema(error: &ValidationError<'_>, text: &str) -> String {
    let pointer = error.instance_path().as_str();
    let reason = match pointer.rsplit('/').next() {
        Some("type") => format!(
            "{} is not a type; the types are {}",
            excerpt(error.instance()),
            TYPES.join(", ")
        ),
        _ => bounded(error),
    };
    let path = json_path(pointer);
    let reason = match path.trim_start_matches('.') {
        "" => reason,
        path => format!("{path}: {reason}"),
    };
    match yaml::locate(text, pointer, &yaml::Limits::DEFAULT) {
        Some(place) => format!("line {}: {reason}", place.line),
        None => reason,
    }
}

/// ` is not one of …`: all choices if they are few, otherwise the most similar ones.
fn choices(options: &Value, given: Option<&Value>) -> String {
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut listed: Vec<&Value> = options.iter().take(LISTED).collect();
    let more = options.len().saturating_sub(listed.len());
    if more > 0
        && let Some(Value::String(given)) = given
    {
        listed = closest(options, given);
    }
    let listed: Vec<String> = listed.into_iter().map(excerpt).collect();
    let listed = listed.join(", ");
    match more {
        0 => format!(" is not one of {listed}"),
        more => format!(" is not one of {listed} and {more} more"),
    }
}

/// The texts with the longest common prefix. Each choice is visited once.
fn closest<'v>(options: &'v [Value], given: &str) -> Vec<&'v Value> {
    let shared = |option: &Value| {
        let text = option.as_str().unwrap_or_default();
        let pairs = text.chars().zip(given.chars()).take(LISTED * LISTED);
        let same = |(a, b): &(char, char)| a.to_lowercase().eq(b.to_lowercase());
        pairs.take_while(same).count()
    };
    let mut best: Vec<(usize, &Value)> = Vec::with_capacity(LISTED + 1);
    for option in options {
        let shared = shared(option);
        let place = best.partition_point(|(other, _)| *other >= shared);
        if place < LISTED {
            best.insert(place, (shared, option));
            best.truncate(LISTED);
        }
    }
    best.into_iter().map(|(_, option)| option).collect()
}

/// The beginning of a value, as JSON.
fn excerpt(value: &Value) -> String {
    bounded(value)
}

/// A text that stops at the maximum length of a message: the rest is never created.
fn bounded(text: &impl fmt::Display) -> String {
    struct Bounded(String);

    impl fmt::Write for Bounded {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            let room = MESSAGE_CHARS.saturating_sub(self.0.len());
            let end = part.floor_char_boundary(room);
            self.0.push_str(&part[..end]);
            match end < part.len() {
                true => Err(fmt::Error),
                false => Ok(()),
            }
        }
    }

    let mut bounded = Bounded(String::new());
    if write!(bounded, "{text}").is_err() {
        bounded.0.push('…');
    }
    bounded.0
}

/// Whether one pointer leads through the other.
fn is_touched(marked: &BTreeSet<String>, pointer: &str) -> bool {
    let mut around = pointer.match_indices('/').map(|(end, _)| &pointer[..end]);
    if marked.contains(pointer) || around.any(|outer| marked.contains(outer)) {
        return true;
    }
    let inner = format!("{pointer}/");
    let from = (Bound::Included(inner.as_str()), Bound::Unbounded);
    let next = marked.range::<str, _>(from).next();
    next.is_some_and(|next| next.starts_with(&inner))
}
