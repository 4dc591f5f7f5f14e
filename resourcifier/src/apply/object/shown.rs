//! Values on their way to people: never those of Secrets, never very long.
//!
//! A clipped text is shown with its length. A digest of the whole would reveal a secret in it: a reader who knows the
//! text around a password could try passwords until the digest matches.

use common::redact::REDACTED;
use serde_json::{Value, json};

use crate::plan::Path;

/// Longer texts are shown with their beginning and their length.
const LONG: usize = 1_000;
/// What a sentence shows of a value.
const IN_A_SENTENCE: usize = 100;

/// What was and what is at a place of an object of this kind, and differs, for a report.
pub fn both(
    before: Option<Value>,
    after: Option<Value>,
    path: &Path,
    object: &Value,
) -> (Option<Value>, Option<Value>) {
    let reported = |value: Value| value_at(value, path, object);
    let (before, mut after) = (before.map(reported), after.map(reported));
    if let Some(Value::String(text)) = &mut after
        && before.as_ref().and_then(Value::as_str) == Some(text.as_str())
        && let Some(open) = text.strip_suffix(" bytes)")
    {
        *text = format!("{open} bytes, different further on)");
    }
    (before, after)
}

fn value_at(value: Value, path: &Path, object: &Value) -> Value {
    if is_secret(path, object) {
        return json!(REDACTED);
    }
    match &value {
        Value::String(text) if text.len() > LONG => json!(clipped(text)),
        _ => value,
    }
}

/// The same, for a sentence.
pub fn shown(value: &Value, path: &Path, object: &Value) -> String {
    if is_secret(path, object) {
        return REDACTED.to_owned();
    }
    let text = value.to_string();
    match text.char_indices().nth(IN_A_SENTENCE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn is_secret(path: &Path, object: &Value) -> bool {
    object["kind"] == "Secret" && path.meets_secret()
}

fn clipped(text: &str) -> String {
    let end = text
        .char_indices()
        .map(|(end, _)| end)
        .take_while(|end| *end <= LONG)
        .last()
        .unwrap_or_default();
    format!("{}… ({} bytes)", &text[..end], text.len())
}
