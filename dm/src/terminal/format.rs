//! The format of results: tables and trees for users, documents for programs.

use clap::ValueEnum;
use serde::Serialize;
use serde_json::Value;

use super::text;
use crate::error::{CommandError, ExitCode};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For users.
    Table,
    /// The manager's answers, as YAML.
    Yaml,
    /// The manager's answers, as JSON.
    Json,
    /// A graph for Graphviz, only for `dm status --graph`.
    Dot,
    /// The kinds and names of objects, only for `dm process`.
    Name,
    /// A description for users, only for `dm process`.
    Describe,
}

/// Why a result could not be shown.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    #[error("standard output: {0}")]
    Write(#[from] std::io::Error),
    #[error("the result cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the result cannot be written as YAML: {0}")]
    Yaml(#[from] common::yaml::WriteError),
}

impl CommandError for OutputError {
    fn exit_code(&self) -> ExitCode {
        match self {
            // The reader has seen enough, like `dm list | head`.
            Self::Write(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::Done,
            Self::Write(_) | Self::Json(_) | Self::Yaml(_) => ExitCode::Failed,
        }
    }
}

/// A document as YAML.
pub fn yaml(document: &impl Serialize) -> Result<String, OutputError> {
    Ok(common::yaml::write(&serde_json::to_value(document)?)?)
}

/// A document as indented JSON. Control characters occur only in its strings, where they are escaped.
pub fn json(document: &impl Serialize) -> Result<String, OutputError> {
    let value: Value = serde_json::to_value(document)?;
    let mut shown = String::new();
    for c in serde_json::to_string_pretty(&value)?.chars() {
        match c {
            '\n' => shown.push(c),
            c if text::is_harmless(c) => shown.push(c),
            c => shown.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    shown.push('\n');
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_reader_that_has_seen_enough_is_no_failure() {
        let gone = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        assert_eq!(OutputError::Write(gone).exit_code(), ExitCode::Done);
    }

    #[test]
    fn documents_keep_their_values_and_obey_no_terminal() {
        let document =
            json!({"text": "a\u{9b}2J\u{202e}\u{1b}é", "list": [1, 1.5, null], "yes": "yes"});
        let shown = json(&document).unwrap();
        assert!(shown.chars().all(|c| c == '\n' || text::is_harmless(c)));
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), document);
        let shown = yaml(&document).unwrap();
        let read = common::yaml::read(
            &shown,
            &common::yaml::Limits::DEFAULT,
            common::yaml::Duplicates::Error,
        );
        assert_eq!(read.unwrap().value, document);
    }
}
