//! Readiness by a user's condition, for kinds without a built-in rule.
//!
//! The annotations `deployment-manager.dev/ready-when` and `…/fail-when` hold a condition in the notation of `kubectl
//! wait`: `{.status.phase}=Ready`, `{.status.conditions[?(@.type=="Synced")].status}!=False`, or `{.status.address}`
//! for a value that must exist. The braces are optional.

use std::fmt;

use serde_json::Value;

use super::path::json_path::{JsonPath, text_of, unquoted};

/// The object is ready when the condition holds. The rule of its kind does not apply.
pub const READY_WHEN: &str = "deployment-manager.dev/ready-when";
/// The object has failed when the condition holds, and waiting ends.
pub const FAIL_WHEN: &str = "deployment-manager.dev/fail-when";

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    Exists,
    Is(String),
    IsNot(String),
}

/// One condition on an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    path: JsonPath,
    test: Test,
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the condition {text:?} cannot be read: {reason}; write it like {{.status.phase}}=Ready")]
pub struct RuleError {
    text: String,
    reason: String,
}

impl Rule {
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let error = |reason: &str| RuleError {
            text: text.chars().take(100).collect(),
            reason: reason.to_owned(),
        };
        let (path, rest) = split(text.trim()).ok_or_else(|| error("a brace is not closed"))?;
        if path.trim().is_empty() {
            return Err(error("it has no path"));
        }
        let path = JsonPath::parse(path).map_err(|reason| error(&reason))?;
        let value = |text: &str| unquoted(text).to_owned();
        let test = match rest.trim() {
            "" => Test::Exists,
            rest => match rest.strip_prefix("!=") {
                Some(unwanted) => Test::IsNot(value(unwanted)),
                None => rest
                    .strip_prefix("==")
                    .or_else(|| rest.strip_prefix('='))
                    .map(|wanted| Test::Is(value(wanted)))
                    .ok_or_else(|| error("the path must be followed by =, == or !="))?,
            },
        };
        Ok(Self {
            path,
            test,
            text: text.trim().to_owned(),
        })
    }

    /// Whether there is a value, and every value passes.
    pub fn holds(&self, object: &Value) -> bool {
        let found = self.path.find(object);
        !found.is_empty()
            && found.iter().all(|value| match &self.test {
                Test::Exists => true,
                Test::Is(wanted) => text_of(value) == *wanted,
                Test::IsNot(unwanted) => text_of(value) != *unwanted,
            })
    }

    /// The present values, for a sentence.
    pub fn seen(&self, object: &Value) -> String {
        let found: Vec<String> = self.path.find(object).into_iter().map(text_of).collect();
        match found.is_empty() {
            true => "there is no such value yet".to_owned(),
            false => format!("now it is {}", shortened(&found.join(", "))),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The condition of an object in one of the two annotations.
pub fn rule_of(object: &Value, annotation: &str) -> Result<Option<Rule>, RuleError> {
    let text = object["metadata"]["annotations"].get(annotation);
    text.and_then(Value::as_str).map(Rule::parse).transpose()
}

/// The path and the rest: divided at the braces, or at a comparison outside of brackets.
fn split(text: &str) -> Option<(&str, &str)> {
    if let Some(inner) = text.strip_prefix('{') {
        return inner.split_once('}');
    }
    let mut depth = 0_usize;
    let end = text.char_indices().find(|(_, c)| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && matches!(c, '=' | '!')
    });
    Some(text.split_at(end.map_or(text.len(), |(end, _)| end)))
}

fn shortened(text: &str) -> String {
    const SHOWN: usize = 200;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn conditions_are_written_as_for_kubectl_wait() {
        let object = json!({
            "metadata": {"annotations": {"a.b/c": "yes"}},
            "status": {
                "phase": "Ready", "replicas": 3, "address": null, "ok": true,
                "conditions": [{"type": "Synced", "status": "True"}, {"type": "Ready", "status": "False"}],
                "nodes": [{"up": true}, {"up": true}],
            },
        });
        let cases = [
            ("{.status.phase}=Ready", true),
            ("{.status.phase}==\"Ready\"", true),
            ("status.phase = Ready", true),
            ("{$.status.phase}!=Failed", true),
            ("{.status.phase}!=Ready", false),
            ("{.status.replicas}=3", true),
            ("{.status.ok}=true", true),
            ("{.status.address}", false),
            ("{.status.phase}", true),
            ("{.status.gone}!=x", false),
            (
                r#"{.status.conditions[?(@.type=="Synced")].status}=True"#,
                true,
            ),
            (
                r#".status.conditions[?(@.type=='Ready')].status==True"#,
                false,
            ),
            ("{.status.nodes[*].up}=true", true),
            ("{.status.nodes[1].up}=true", true),
            ("{.status.nodes[2].up}", false),
            (r"{.metadata.annotations.a\.b/c}=yes", true),
            ("{.metadata.annotations['a.b/c']}=yes", true),
        ];
        for (text, expected) in cases {
            let rule = Rule::parse(text).unwrap();
            assert_eq!(rule.holds(&object), expected, "{text}");
        }
    }

    #[test]
    fn a_malformed_condition_says_what_is_wrong_and_how_to_write_it() {
        for text in [
            "",
            "{.a",
            "{}=x",
            "{.a[}=x",
            "{.a}~x",
            "{.a[?(@.b)]}",
            "{.a..b}=1",
            &format!("{{{}}}=1", ".a[*]".repeat(100_000)),
        ] {
            let error = Rule::parse(text).unwrap_err().to_string();
            assert!(
                error.ends_with("write it like {.status.phase}=Ready"),
                "{error}"
            );
        }
    }
}
