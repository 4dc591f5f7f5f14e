//! The format of results: tables and trees for users, documents for programs.

mod form;
mod go_template;
mod json_path;
pub mod names;

use std::ffi::OsStr;

use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::{Arg, Command, ValueEnum};
use serde::Serialize;
use serde_json::Value;

use super::text;
use crate::error::{CommandError, ExitCode};

use go_template::GoTemplateError;
use json_path::JsonPathError;

pub use form::Form;

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
    /// The names alone, one a line.
    Name,
    /// A description for users, only for `dm process`.
    Describe,
    /// `jsonpath=EXPRESSION`: what an expression finds in the manager's answer.
    #[value(name = "jsonpath")]
    JsonPath,
    /// `go-template=TEMPLATE`: what a template makes of the manager's answer.
    #[value(name = "go-template")]
    GoTemplate,
}

impl Format {
    fn takes_expression(self) -> bool {
        matches!(self, Self::JsonPath | Self::GoTemplate)
    }
}

/// The value of `-o`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    pub format: Format,
    /// What follows `jsonpath=` and `go-template=`.
    pub expression: Option<String>,
}

/// Reads the name of a format, with an expression behind those that take one.
#[derive(Debug, Clone)]
pub struct OutputParser;

impl TypedValueParser for OutputParser {
    type Value = Output;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Output, clap::Error> {
        let parts = value.to_str().and_then(|text| text.split_once('='));
        let read = |name| Format::from_str(name, false).ok();
        if let Some((name, expression)) = parts
            && let Some(format) = read(name).filter(|format| format.takes_expression())
        {
            return Ok(Output {
                format,
                expression: Some(expression.to_owned()),
            });
        }
        let format = EnumValueParser::<Format>::new().parse_ref(command, argument, value)?;
        Ok(Output {
            format,
            expression: None,
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let variants = Format::value_variants().iter();
        Some(Box::new(variants.filter_map(ValueEnum::to_possible_value)))
    }
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
    #[error("write what to print: {example}")]
    Missing { example: &'static str },
    #[error(transparent)]
    JsonPath(#[from] JsonPathError),
    #[error(transparent)]
    GoTemplate(#[from] GoTemplateError),
    #[error("the result has no names; write -o json, and see what it has")]
    Nameless,
}

impl CommandError for OutputError {
    fn exit_code(&self) -> ExitCode {
        match self {
            // The reader has seen enough, like `dm list | head`.
            Self::Write(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::Done,
            Self::Write(_) | Self::Json(_) | Self::Yaml(_) => ExitCode::Failed,
            Self::Missing { .. } | Self::JsonPath(_) | Self::GoTemplate(_) | Self::Nameless => {
                ExitCode::Usage
            }
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
    fn only_some_formats_take_an_expression() {
        let read = |text: &str| {
            let command = Command::new("dm").no_binary_name(true);
            let argument = Arg::new("output").value_parser(OutputParser);
            let matches = command.arg(argument).try_get_matches_from([text])?;
            Ok::<_, clap::Error>(matches.get_one::<Output>("output").cloned())
        };
        let output = |format, expression: Option<&str>| {
            let expression = expression.map(str::to_owned);
            Some(Output { format, expression })
        };
        assert_eq!(read("yaml").unwrap(), output(Format::Yaml, None));
        assert_eq!(read("jsonpath").unwrap(), output(Format::JsonPath, None));
        let path = "{.items[?(@.kind==\"Service\")]}";
        let expected = output(Format::JsonPath, Some(path));
        assert_eq!(read(&format!("jsonpath={path}")).unwrap(), expected);
        let expected = output(Format::GoTemplate, Some("{{.kind}}=x"));
        assert_eq!(read("go-template={{.kind}}=x").unwrap(), expected);
        assert!(read("yaml=x").is_err() && read("xml").is_err());
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
