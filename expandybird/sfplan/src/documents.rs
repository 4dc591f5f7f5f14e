//! The documents of what a template printed.

use expandybird_chart::yaml;
use serde_json::Value;

use crate::action::Action;
use crate::error::PlanError;

/// A document, and the line that it begins at, from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// What it holds.
    pub value: Value,
    /// Of the template's output.
    pub line: usize,
}

/// The documents that are not empty. Only a line divides them, so that a text may have three dashes in it.
///
/// # Errors
/// One is no YAML, or no map.
pub fn documents(action: Action, text: &str) -> Result<Vec<Text>, PlanError> {
    let mut found = Vec::new();
    for (part, line) in parts(text) {
        let failed = |reason: String| {
            let reason = format!("the document at line {line}: {reason}");
            PlanError::output(action, reason)
        };
        match yaml::read(part.as_bytes()) {
            Ok(Value::Null) => {}
            Ok(value @ Value::Object(_)) => found.push(Text { value, line }),
            Ok(other) => {
                return Err(failed(format!(
                    "it is a {}, not an object",
                    yaml::kind(&other)
                )));
            }
            Err(error) => return Err(failed(error.to_string())),
        }
    }
    Ok(found)
}

/// The parts between the lines that divide them, each with its first line.
fn parts(text: &str) -> Vec<(&str, usize)> {
    let mut parts = Vec::new();
    let (mut start, mut first, mut at) = (0, 1, 0);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let rest = line.strip_prefix("---");
        if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace)) {
            parts.push((&text[start..at], first));
            // What stands behind the dashes belongs to the document.
            (start, first) = (at + 3, index + 1);
        }
        at += line.len();
    }
    parts.push((&text[start..], first));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_line_of_dashes_divides_documents() {
        let text =
            "a: |\n  -----BEGIN KEY-----\n  x---y\n--- # second\nb: 1\n---\n\n--- {c: 2}\n---x: 3";
        let values: Vec<_> = documents(Action::Bind, text).unwrap();
        let lines: Vec<_> = values.iter().map(|text| text.line).collect();
        assert_eq!(values.len(), 3, "{values:?}");
        assert_eq!(lines, [1, 4, 8]);
        assert_eq!(values[1].value["b"], 1);
    }

    #[test]
    fn dashes_alone_are_nothing() {
        for text in ["---", "", " \n", "---\n---\n", "# nothing\n"] {
            assert_eq!(documents(Action::Bind, text).unwrap(), [], "{text:?}");
        }
    }

    #[test]
    fn what_is_no_map_is_refused_with_its_line() {
        for text in [
            "{}\n---\n[1]",
            "{}\n---\ntext",
            "{}\n---\na: [",
            "{}\n---\n7",
        ] {
            let error = documents(Action::Bind, text).unwrap_err().to_string();
            assert!(error.contains("the document at line 2"), "{error}");
        }
    }
}
