//! How far an operation is, from what the status template printed.

use expandybird_chart::yaml;
use serde_json::{Map, Value};

use crate::action::Action;
use crate::error::PlanError;

/// Characters of a text that is shown to users.
const SHOWN_CHARS: usize = 2_000;

/// Where an operation is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It goes on.
    InProgress,
    /// It has ended well.
    Succeeded,
    /// It has ended badly.
    Failed,
    /// A text that is none of the three: it goes on.
    Unknown(String),
}

/// One block of a status.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// Where the operation is.
    pub state: State,
    /// Why it failed. Empty if nobody knows.
    pub error: String,
    /// A sentence for users; of a binding, the answer to the platform as JSON.
    pub response: String,
    /// Where the instance can be seen.
    pub dashboard_url: Option<String>,
    /// Whether an instance can be used after a failure.
    pub instance_usable: Option<bool>,
    /// Whether a failed update may be repeated.
    pub update_repeatable: Option<bool>,
}

/// The block of an operation: `provision`, `bind`, `unbind` or `deprovision`. All others are ignored.
///
/// # Errors
/// There is no such block, or it has not the form of one.
pub fn status(text: &str, block: &str) -> Result<Status, PlanError> {
    let failed = |reason: String| PlanError::output(Action::Status, reason);
    let read = yaml::read(text.as_bytes()).map_err(|error| failed(error.to_string()))?;
    let entry = match read.get(block) {
        Some(Value::Object(entry)) => entry,
        Some(Value::Null) | None => return Err(failed(format!("it has no block {block}"))),
        Some(_) => return Err(failed(format!("{block} must be a map"))),
    };
    read_block(entry).map_err(|reason| failed(format!("{block}.{reason}")))
}

fn read_block(entry: &Map<String, Value>) -> Result<Status, String> {
    let state = text(entry, "state")?;
    Ok(Status {
        state: State::read(state.trim())?,
        error: shortened(text(entry, "error")?),
        response: text(entry, "response")?,
        dashboard_url: Some(text(entry, "dashboardUrl")?).filter(|url| !url.is_empty()),
        instance_usable: flag(entry, "instanceUsable")?,
        update_repeatable: flag(entry, "updateRepeatable")?,
    })
}

impl State {
    fn read(text: &str) -> Result<Self, String> {
        match text {
            "" => Err("state is missing".to_owned()),
            "in progress" | "in_progress" | "in_queue" | "update" | "delete" => {
                Ok(Self::InProgress)
            }
            "succeeded" => Ok(Self::Succeeded),
            "failed" => Ok(Self::Failed),
            other => Ok(Self::Unknown(shortened(other.to_owned()))),
        }
    }
}

/// A text. A map or list is its JSON.
fn text(entry: &Map<String, Value>, key: &str) -> Result<String, String> {
    match entry.get(key) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(value @ (Value::Object(_) | Value::Array(_))) if key == "response" => {
            Ok(value.to_string())
        }
        Some(Value::Number(number)) => Ok(number.to_string()),
        Some(Value::Bool(truth)) => Ok(truth.to_string()),
        Some(_) => Err(format!("{key} must be a text")),
    }
}

fn flag(entry: &Map<String, Value>, key: &str) -> Result<Option<bool>, String> {
    match text(entry, key)?.as_str() {
        "" => Ok(None),
        "true" => Ok(Some(true)),
        "false" => Ok(Some(false)),
        _ => Err(format!("{key} must be \"true\" or \"false\"")),
    }
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => text[..end].to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(text: &str) -> State {
        status(&format!("provision: {{state: {text}}}"), "provision")
            .unwrap()
            .state
    }

    #[test]
    fn every_state_is_one_of_three_or_goes_on() {
        for text in ["in_queue", "update", "delete", "in progress", "in_progress"] {
            assert_eq!(state(text), State::InProgress, "{text}");
        }
        assert_eq!(state("succeeded"), State::Succeeded);
        assert_eq!(state("failed"), State::Failed);
        assert_eq!(state("Ready"), State::Unknown("Ready".to_owned()));
    }

    #[test]
    fn values_that_are_no_texts_are_read_where_their_meaning_is_clear() {
        let text = "bind: {state: succeeded, response: {credentials: {a: 1}}}\nprovision: {state: failed, error: 7, instanceUsable: false, updateRepeatable: \"true\", dashboardUrl: 'http://a'}";
        let bind = status(text, "bind").unwrap();
        assert_eq!(bind.response, r#"{"credentials":{"a":1}}"#);
        let provision = status(text, "provision").unwrap();
        assert_eq!(provision.error, "7");
        assert_eq!(provision.instance_usable, Some(false));
        assert_eq!(provision.update_repeatable, Some(true));
        assert_eq!(provision.dashboard_url.as_deref(), Some("http://a"));
    }

    #[test]
    fn a_block_that_is_not_one_is_refused_with_its_name() {
        for (text, reason) in [
            ("", "it has no block unbind"),
            ("unbind:", "it has no block unbind"),
            ("unbind: []", "unbind must be a map"),
            ("unbind: {}", "unbind.state is missing"),
            ("unbind: {state: {}}", "unbind.state must be a text"),
            (
                "unbind: {state: failed, instanceUsable: maybe}",
                "must be \"true\"",
            ),
            ("a: [", "yaml:"),
        ] {
            let error = status(text, "unbind").unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
