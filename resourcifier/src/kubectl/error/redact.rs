//! Removes the values of a Secret from the API server's messages about it.

use common::redact::REDACTED;
use serde_json::Value;

use super::{KubectlError, ObjectError};

/// Shorter values occur in many texts by chance. [`quoted`] covers them.
const SHORTEST: usize = 4;

/// The error without the values of the object, if that is a Secret.
pub fn redacted(error: KubectlError, object: &Value) -> KubectlError {
    match error {
        KubectlError::Object(error) if object["kind"] == "Secret" => {
            let values = values(object);
            let causes = error.causes.into_iter().map(|mut cause| {
                cause.message = without(&cause.message, &values);
                cause
            });
            KubectlError::Object(ObjectError {
                fault: error.fault,
                text: without(&error.text, &values),
                causes: causes.collect(),
            })
        }
        error => error,
    }
}

/// The values as they are and in quotes, the longest first, because one may be a part of another.
fn values(secret: &Value) -> Vec<String> {
    let maps = ["data", "stringData"].map(|field| secret[field].as_object());
    let mut values: Vec<String> = maps
        .into_iter()
        .flatten()
        .flat_map(|map| map.values())
        .flat_map(|value| {
            let written = value.to_string();
            let inner = written
                .strip_prefix('"')
                .and_then(|rest| rest.strip_suffix('"'));
            let quoted = inner.unwrap_or(&written).to_owned();
            value
                .as_str()
                .map(str::to_owned)
                .into_iter()
                .chain([quoted])
        })
        .filter(|value| value.len() >= SHORTEST)
        .collect();
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    values
}

fn without(text: &str, values: &[String]) -> String {
    let text = values
        .iter()
        .fold(text.to_owned(), |text, value| text.replace(value, REDACTED));
    match quoted(&text) {
        Some(at) => format!("{}{REDACTED}", &text[..at]),
        None => text,
    }
}

/// The position after which the API server quotes the content of a field with values.
fn quoted(text: &str) -> Option<usize> {
    const INVALID: &str = ": Invalid value: ";
    const UNSTRUCTURED: &str = "valueUnstructured";
    let is_of_values = |at: &usize| {
        let field = text[..*at]
            .rsplit([' ', '['])
            .find(|part| !part.ends_with(']'));
        field.is_some_and(|field| {
            let field = field.trim_start_matches('.');
            field.starts_with("data") || field.starts_with("stringData")
        })
    };
    let invalid = text
        .match_indices(INVALID)
        .find(|(at, _)| is_of_values(at))
        .map(|(at, _)| at + INVALID.len());
    let unstructured = text.find(UNSTRUCTURED).map(|at| at + UNSTRUCTURED.len());
    invalid.into_iter().chain(unstructured).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kubectl::ObjectFault;
    use serde_json::json;

    fn refused(text: &str, object: &Value) -> String {
        let error = ObjectError {
            fault: ObjectFault::Refused,
            text: text.to_owned(),
            causes: Vec::new(),
        };
        redacted(error.into(), object).to_string()
    }

    #[test]
    fn a_secrets_values_never_get_into_a_text() {
        let secret = json!({"kind": "Secret", "stringData": {"a": "hunter2", "n": 123456}, "data": {"b": "aHVudGVyMg=="}});
        let cases = [
            (
                "Secret \"s\" is invalid: data[b]: Invalid value: \"x\"",
                "Secret \"s\" is invalid: data[b]: Invalid value: (redacted)",
            ),
            ("other hunter2 aHVudGVyMg==", "other (redacted) (redacted)"),
            (
                ".stringData.n: expected string, got &value.valueUnstructured{Value:123456}",
                ".stringData.n: expected string, got &value.valueUnstructured(redacted)",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(refused(text, &secret), expected);
        }
    }

    #[test]
    fn a_value_in_quotes_is_found_too() {
        let secret = json!({"kind": "Secret", "stringData": {"a": "two\nlines \"quoted\""}});
        assert_eq!(
            refused(r#"got "two\nlines \"quoted\"""#, &secret),
            r#"got "(redacted)""#
        );
    }

    #[test]
    fn what_is_said_of_other_fields_of_a_secret_stays() {
        let secret = json!({"kind": "Secret", "data": {"a": "aHVudGVyMg=="}});
        let text = "Secret \"S\" is invalid: [metadata.name: Invalid value: \"S\": a lowercase name is needed, type: Invalid value: \"x\": field is immutable]";
        assert_eq!(refused(text, &secret), text);
        let text =
            "Secret \"s\" is invalid: [type: Required value, data[a.b]: Invalid value: \"x\"]";
        assert_eq!(
            refused(text, &secret),
            "Secret \"s\" is invalid: [type: Required value, data[a.b]: Invalid value: (redacted)"
        );
    }

    #[test]
    fn other_objects_keep_their_sentence() {
        let text = "ConfigMap \"c\" is invalid: name: Invalid value: \"C\"";
        let map = json!({"kind": "ConfigMap", "data": {"a": "value"}});
        assert_eq!(refused(text, &map), text);
    }
}
