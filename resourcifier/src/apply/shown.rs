//! Values on their way to people: never those of Secrets, never very long.

use common::canonical;
use common::redact::REDACTED;
use serde_json::{Value, json};

use crate::plan::Path;

/// Longer texts are told by their beginning, their length and their digest.
const LONG: usize = 1_000;
/// What a sentence shows of a value.
const IN_A_SENTENCE: usize = 100;
/// kubectl keeps the whole object in it.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// A value at a place of an object of this kind, for a report.
pub fn value(value: Value, path: &Path, object: &Value) -> Value {
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
    let secret = [
        &["data"][..],
        &["stringData"],
        &["metadata", "annotations", LAST_APPLIED],
    ];
    object["kind"] == "Secret" && secret.iter().any(|keys| path.begins(keys))
}

fn clipped(text: &str) -> String {
    let end = text
        .char_indices()
        .map(|(end, _)| end)
        .take_while(|end| *end <= LONG)
        .last()
        .unwrap_or_default();
    let digest = canonical::digest_bytes(text.as_bytes());
    format!("{}… ({} bytes, {digest})", &text[..end], text.len())
}
