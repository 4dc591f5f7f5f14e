//! Go templates, in this process: `text/template` with maps, lists and numbers as Go has them.
//!
//! All Go templates of a request are one set: what one defines, the others can call. Each instance has its own data and
//! its own budget.

mod functions;

use std::cell::OnceCell;

use common::api::error::ErrorCode;
use common::model::language;
use common::model::{Import, Language};
use expandybird_gotemplate::budget::Limits;
use expandybird_gotemplate::error::{ExecError, Failure, Limit, ParseError};
use expandybird_gotemplate::value::{GoString, Map, Numbers, Value};
use expandybird_gotemplate::{MissingKey, Options, Session, Set, execute};

use super::excerpt::excerpt;
use super::python::current_time;
use super::values::MadeUp;
use super::{Engine, EngineError, Instance, Output, Rendered};
use crate::input::Files;

/// Steps of one rendering. Charts of hundreds of files need a few million.
const STEPS: u64 = 20_000_000;
/// What Go prints for a value that does not exist.
const NO_VALUE: &str = "<no value>";

/// The engine of one expansion.
pub struct GoTemplates {
    files: Files,
    set: OnceCell<Result<Set, EngineError>>,
}

impl GoTemplates {
    pub fn new(files: &Files) -> Self {
        Self {
            files: files.clone(),
            set: OnceCell::new(),
        }
    }

    fn set(&self, instance: &Instance<'_>) -> Result<&Set, EngineError> {
        let set = self.set.get_or_init(|| self.parse(instance.template));
        set.as_ref().map_err(EngineError::clone)
    }

    /// The template that asks may be none of the imports: a registry brought it.
    fn parse(&self, template: &Import) -> Result<Set, EngineError> {
        let options = Options {
            missing_key: MissingKey::Zero,
            ..Options::default()
        };
        let mut set = Set::new("templates", functions::functions(), options);
        let is_go = |file: &&Import| {
            let row = language::of_file(file.path(), &file.content);
            row.is_some_and(|row| row.language == Language::GoTemplate)
        };
        let imports = self.files.all().iter().filter(is_go);
        for file in imports
            .filter(|file| file.name != template.name)
            .chain([template])
        {
            let parsed = set.parse(&file.name, file.content.as_str());
            parsed.map_err(|error| unparsed(file, &error))?;
        }
        Ok(set)
    }

    fn data(&self, instance: &Instance<'_>) -> Value {
        let read = |json| Value::from_json(json, Numbers::Integers);
        let properties = instance
            .properties
            .map_or_else(|| Map::default().into(), read);
        let env = instance.env.iter();
        let env = env.map(|(key, value)| (GoString::from(key.as_str()), read(value)));
        let imports = self.files.all().iter();
        let imports = imports.map(|file| (file.name.as_str().into(), file.content.as_str().into()));
        let data = Map::default();
        data.insert("Values", properties.clone());
        data.insert("properties", properties);
        data.insert("env", env.collect::<Map>().into());
        data.insert("imports", imports.collect::<Map>().into());
        data.into()
    }

    fn failed(&self, instance: &Instance<'_>, error: &ExecError) -> EngineError {
        let place = innermost(error).place.as_ref();
        let file = place.and_then(|place| self.files.named(&place.file));
        let file = file.unwrap_or(instance.template);
        let line = place.map(|place| place.line);
        let column = place.map(|place| character(&file.content, place.line, place.column));
        let number = |value: usize| u32::try_from(value).ok();
        EngineError {
            code: code(error),
            message: format!("template '{}' failed: {error}", instance.template.path()),
            file: Some(file.path().to_owned()),
            line: line.and_then(number),
            column: column.and_then(number),
            excerpt: line
                .and_then(|line| excerpt(&file.content, line, column))
                .unwrap_or_default(),
            causes: Vec::new(),
        }
    }
}

impl Engine for GoTemplates {
    fn render(&mut self, instance: &Instance<'_>) -> Result<Output, EngineError> {
        let set = self.set(instance)?;
        let limits = Limits {
            steps: STEPS,
            ..Limits::default()
        };
        let made_up = MadeUp::default();
        let host = made_up.host(&instance.values, current_time(instance.env));
        let mut session = Session::new(limits, host);
        let data = self.data(instance);
        let output = execute(set, &mut session, &instance.template.name, &data);
        let output = output.map_err(|error| self.failed(instance, &error))?;
        let path = instance.template.path();
        let text = String::from_utf8(output).map_err(|_| not_text(path))?;
        let mut warnings = Vec::new();
        if text.contains(NO_VALUE) {
            let warning = "a value that does not exist is printed, as nothing";
            warnings.push(format!("{path}: {warning}"));
        }
        Ok(Output {
            warnings,
            values: made_up.into_used(),
            ..Output::new(Rendered::Text(text.replace(NO_VALUE, "")))
        })
    }
}

/// The error of the template that a template ran.
fn innermost(error: &ExecError) -> &ExecError {
    match error.cause.as_deref() {
        Some(Failure::Template { error, .. }) => innermost(error),
        Some(Failure::Message(_) | Failure::Limit(_)) | None => error,
    }
}

fn code(error: &ExecError) -> ErrorCode {
    match error.limit() {
        None => ErrorCode::TemplateFailed,
        Some(Limit::Output(_) | Limit::String(_)) => ErrorCode::TemplateOutput,
        Some(Limit::Steps(_) | Limit::Depth(_) | Limit::List(_) | Limit::Time) => {
            ErrorCode::TemplateFuel
        }
    }
}

/// The character, counted from 1, at a byte of a line, counted from 0.
fn character(source: &str, line: usize, byte: usize) -> usize {
    let text = source
        .split('\n')
        .nth(line.saturating_sub(1))
        .unwrap_or_default();
    let before = text.get(..byte).unwrap_or_default();
    before.chars().count() + 1
}

fn unparsed(file: &Import, error: &ParseError) -> EngineError {
    EngineError {
        code: ErrorCode::TemplateFailed,
        message: format!("template '{}' failed: {error}", file.path()),
        file: Some(file.path().to_owned()),
        line: u32::try_from(error.line).ok(),
        column: None,
        excerpt: excerpt(&file.content, error.line, None).unwrap_or_default(),
        causes: Vec::new(),
    }
}

fn not_text(path: &str) -> EngineError {
    EngineError {
        code: ErrorCode::TemplateFailed,
        message: format!("template '{path}' failed: its output is not UTF-8; encode binary data"),
        file: Some(path.to_owned()),
        line: None,
        column: None,
        excerpt: String::new(),
        causes: Vec::new(),
    }
}
