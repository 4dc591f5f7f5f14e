//! The error text for a template's author: what is wrong, where, and a suggestion.

use common::api::error::ErrorCode;
use minijinja::{Error, ErrorKind};
use serde_json::Value as Json;

use super::super::excerpt::excerpt;
use super::super::{EngineError, Instance};
use super::{callables, rewrite};
use crate::input::Files;

/// How similar a name must be for a suggestion: from 0, nothing in common, to 1, equal.
const ALIKE: f64 = 0.7;

/// One failure of a rendering.
pub struct Failure<'a> {
    error: &'a Error,
    instance: &'a Instance<'a>,
    file: String,
    source: &'a str,
    /// The line and the column, from 1.
    line: Option<usize>,
    column: Option<usize>,
}

impl<'a> Failure<'a> {
    /// The error of an included file, a macro or a block, at its own location.
    pub fn new(error: &'a Error, files: &'a Files, instance: &'a Instance<'a>) -> Self {
        let error = innermost(error);
        let template = error
            .name()
            .and_then(|name| files.named(name))
            .unwrap_or(instance.template);
        let place = error
            .range()
            .map(|range| rewrite::place(&template.content, range.start));
        Self {
            error,
            instance,
            file: template.path().to_owned(),
            source: &template.content,
            line: place.map(|(line, _)| line).or_else(|| error.line()),
            column: place.map(|(_, column)| column),
        }
    }

    /// `file:line:column`, as far as it is known.
    pub fn place(&self) -> String {
        let numbers = [self.line, self.column].into_iter().flatten();
        numbers.fold(self.file.clone(), |place, number| {
            format!("{place}:{number}")
        })
    }

    pub fn into_error(self) -> EngineError {
        let number = |value: usize| u32::try_from(value).ok();
        EngineError {
            code: code(self.error),
            message: format!("template '{}' failed: {}", self.file, self.sentence()),
            line: self.line.and_then(number),
            column: self.column.and_then(number),
            excerpt: self
                .line
                .and_then(|line| excerpt(self.source, line, self.column))
                .unwrap_or_default(),
            file: Some(self.file),
            causes: Vec::new(),
        }
    }

    fn sentence(&self) -> String {
        let detail = self.error.detail().unwrap_or_default();
        let sentence = match self.error.kind() {
            ErrorKind::UndefinedError => self.undefined(),
            ErrorKind::UnknownFilter => self.unknown("filter", "filters"),
            ErrorKind::UnknownTest => self.unknown("test", "tests"),
            ErrorKind::UnknownFunction => self.unknown_function(),
            ErrorKind::UnknownMethod => self.unknown_method(),
            ErrorKind::InvalidOperation
            | ErrorKind::TooManyArguments
            | ErrorKind::MissingArgument
                if !detail.is_empty() =>
            {
                detail.to_owned()
            }
            kind if detail.is_empty() => kind.to_string(),
            kind => format!("{kind}: {detail}"),
        };
        rewrite::undone(&sentence)
    }

    /// The undefined expression: minijinja puts it into backticks.
    pub fn undefined_name(&self) -> Option<&'a str> {
        let (_, name) = self.error.detail()?.split_once('`')?;
        name.split_once('`').map(|(name, _)| name)
    }

    fn undefined(&self) -> String {
        let Some(name) = self.undefined_name() else {
            return "a value is undefined; test it with 'is defined', or give it a default: x|default('')".to_owned();
        };
        let near = nearest(name, self.defined(name));
        format!("'{name}' is undefined{}", suggestion(near.as_deref()))
    }

    /// Names that could replace an undefined one.
    fn defined(&self, name: &str) -> Vec<String> {
        let keys = |prefix: &str, map: Option<&serde_json::Map<String, Json>>| {
            let keys = map.into_iter().flat_map(|map| map.keys());
            keys.map(|key| format!("{prefix}.{key}")).collect()
        };
        match name.split_once(['.', '[']) {
            Some(("properties", _)) => keys(
                "properties",
                self.instance.properties.and_then(Json::as_object),
            ),
            Some(("env", _)) => keys("env", Some(self.instance.env)),
            Some(_) => Vec::new(),
            None => ["env", "properties", "imports"].map(str::to_owned).to_vec(),
        }
    }

    fn unknown(&self, what: &str, group: &str) -> String {
        let detail = self.error.detail().unwrap_or_default();
        let name = detail.split_whitespace().nth(1).unwrap_or_default();
        format!(
            "there is no {what} '{name}'{}",
            suggestion(nearest(name, names(group)).as_deref())
        )
    }

    fn unknown_function(&self) -> String {
        let detail = self.error.detail().unwrap_or_default();
        let name = detail.split_whitespace().next().unwrap_or_default();
        format!(
            "there is no function or macro '{name}'{}",
            suggestion(nearest(name, names("globals")).as_deref())
        )
    }

    /// The detail is `string has no method named uper`, possibly followed by an undefined value.
    fn unknown_method(&self) -> String {
        let detail = self.error.detail().unwrap_or_default();
        if let Some(name) = self.undefined_name() {
            return format!("'{name}' is undefined, so nothing in it can be called");
        }
        let kind = detail.split_whitespace().next().unwrap_or_default();
        let group = match kind {
            "string" => "str",
            "sequence" => "list",
            "map" => "dict",
            _ => "",
        };
        let name = detail.rsplit(' ').next().unwrap_or_default();
        format!(
            "{detail}{}",
            suggestion(nearest(name, names(group)).as_deref())
        )
    }
}

fn code(error: &Error) -> ErrorCode {
    match error.kind() {
        ErrorKind::OutOfFuel => ErrorCode::TemplateFuel,
        ErrorKind::WriteFailure => ErrorCode::TemplateOutput,
        _ => ErrorCode::TemplateFailed,
    }
}

fn innermost(error: &Error) -> &Error {
    let mut innermost = error;
    while let Some(inner) =
        std::error::Error::source(innermost).and_then(|source| source.downcast_ref::<Error>())
    {
        innermost = inner;
    }
    innermost
}

fn names(group: &str) -> Vec<String> {
    let found = callables().into_iter().find(|(name, _)| *name == group);
    let rows = found.map(|(_, rows)| rows).unwrap_or_default();
    rows.into_iter().map(|(name, _)| name.to_owned()).collect()
}

fn nearest(name: &str, known: Vec<String>) -> Option<String> {
    let rated = known
        .into_iter()
        .map(|known| (strsim::normalized_damerau_levenshtein(name, &known), known));
    let near = rated.filter(|(alike, _)| *alike >= ALIKE && *alike < 1.0);
    near.max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, known)| known)
}

fn suggestion(near: Option<&str>) -> String {
    near.map(|near| format!("; did you mean '{near}'?"))
        .unwrap_or_default()
}
