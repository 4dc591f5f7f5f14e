//! Keeps the values of Secrets out of what kubectl says.

use serde_json::Value;

/// Shorter values would garble every text that they happen to occur in; they are covered by [`QUOTING`].
const SHORTEST: usize = 4;
/// How the API server begins to quote a value.
const QUOTING: &str = "Invalid value: ";
const REDACTED: &str = "[redacted]";

/// The text without any value of the Secrets among the objects.
pub fn redacted(text: String, objects: &[Value]) -> String {
    let secrets: Vec<&Value> = objects
        .iter()
        .filter(|object| object["kind"] == "Secret")
        .collect();
    if secrets.is_empty() {
        return text;
    }
    let mut values: Vec<&str> = secrets.iter().flat_map(|secret| values(secret)).collect();
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    let text = values
        .into_iter()
        .fold(text, |text, value| text.replace(value, REDACTED));
    text.lines()
        .map(without_quoted_value)
        .collect::<Vec<_>>()
        .join("\n")
}

fn values(secret: &Value) -> impl Iterator<Item = &str> {
    ["data", "stringData"]
        .into_iter()
        .filter_map(|field| secret[field].as_object())
        .flat_map(|map| map.values())
        .filter_map(Value::as_str)
        .filter(|value| value.len() >= SHORTEST)
}

/// Only lines about a Secret are cut: other objects of the batch keep their full sentence.
fn without_quoted_value(line: &str) -> String {
    match line.split_once(QUOTING) {
        Some((before, _)) if before.contains("Secret") => format!("{before}{QUOTING}{REDACTED}"),
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_secrets_values_never_get_into_a_text() {
        let secret = json!({"kind": "Secret", "stringData": {"a": "hunter2"}, "data": {"b": "aHVudGVyMg=="}});
        let text =
            "Secret \"s\" is invalid: data[b]: Invalid value: \"x\"\nother hunter2 aHVudGVyMg=="
                .to_owned();
        let expected = "Secret \"s\" is invalid: data[b]: Invalid value: [redacted]\nother [redacted] [redacted]";
        assert_eq!(redacted(text, &[secret]), expected);
    }

    #[test]
    fn other_objects_keep_their_sentence() {
        let text = "ConfigMap \"c\" is invalid: name: Invalid value: \"C\"".to_owned();
        assert_eq!(
            redacted(
                text.clone(),
                &[json!({"kind": "ConfigMap", "data": {"a": "value"}})]
            ),
            text
        );
    }
}
