//! Jinja templates, in process: minijinja with Jinja2's Python flavour.
//!
//! Responsible for what a template author knows from Jinja2; COMPATIBILITY.md lists what differs.
//! Bounded by steps (fuel), bytes written and recursion; nothing of one rendering is seen by the
//! next. A set of files is compiled once and kept, by content.
//!
//! Operators, literals and some statements are rewritten into calls before a template is compiled
//! ([`rewrite`]), because minijinja's own can neither format text, nor be bounded, nor make values
//! that a template can change.

mod cycler;
mod dict;
mod filters;
mod list;
mod meter;
mod methods;
mod operators;
mod order;
mod random;
mod range;
mod repr;
mod rewrite;
mod values;
mod variadic;

use std::sync::Arc;

use common::api::error::ErrorCode;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value};

use super::{Engine, EngineError, Instance, Output, Rendered};
use crate::cache::{Cache, Key};
use crate::expansion::{Files, Stop};
use dict::Dict;
use meter::{Meter, Running};

/// Sets of templates kept compiled.
const KEPT: usize = 128;
/// Nested macros, includes and blocks; each is a few frames of the thread's stack.
const RECURSION: usize = 100;

/// What one rendering may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Steps of the template; a loop of three expressions takes about ten a round.
    pub fuel: u64,
    /// Bytes that are written, into variables as well.
    pub written_bytes: usize,
}

impl Default for Limits {
    /// Two million steps take under a second; no real template is known to take a hundredth.
    fn default() -> Self {
        Self {
            fuel: 2_000_000,
            written_bytes: 16 * 1024 * 1024,
        }
    }
}

/// Compiled sets of files, by their content.
pub type JinjaCache = Cache<Templates>;

pub fn cache() -> JinjaCache {
    Cache::new(KEPT)
}

/// All files of a request, ready to be rendered.
#[derive(Debug)]
pub struct Templates {
    environment: Environment<'static>,
}

impl Templates {
    fn new(files: &Files, limits: Limits) -> Self {
        let mut environment = Environment::new();
        let sources = files.clone();
        environment.set_loader(move |name| {
            Ok(sources
                .named(name)
                .map(|import| rewrite::rewrite(&import.content)))
        });
        let names = files.clone();
        environment.set_path_join_callback(move |wanted, parent| {
            let base = names.named(parent).map_or(parent, |import| import.path());
            let found = names.included(wanted, base);
            found.map_or_else(
                || wanted.to_owned().into(),
                |import| import.name.clone().into(),
            )
        });
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_undefined_behavior(UndefinedBehavior::Lenient);
        environment.set_fuel(Some(limits.fuel));
        environment.set_recursion_limit(RECURSION);
        environment.set_debug(true);
        environment.set_formatter(move |out, state, value| {
            meter::print(out, state, value, limits.written_bytes)
        });
        environment.set_unknown_method_callback(methods::call);
        operators::register(&mut environment);
        filters::register(&mut environment);
        let imports = files
            .all()
            .iter()
            .map(|import| (import.name.clone(), Value::from(import.content.as_str())));
        environment.add_global("imports", Value::from_pairs(imports));
        Self { environment }
    }
}

/// The engine of one expansion.
pub struct Jinja {
    files: Files,
    templates: Arc<Templates>,
    stop: Stop,
    seed: u64,
}

impl Jinja {
    pub fn new(files: &Files, limits: Limits, cache: &JinjaCache, stop: Stop) -> Self {
        let texts = files
            .all()
            .iter()
            .flat_map(|import| [import.name.as_str(), import.path(), import.content.as_str()]);
        let key = Key::of(texts);
        let seed = key.number();
        let made = cache.get_or_make(key, || {
            Ok::<_, std::convert::Infallible>(Templates::new(files, limits))
        });
        let templates = match made {
            Ok(templates) => templates,
            Err(never) => match never {},
        };
        Self {
            files: files.clone(),
            templates,
            stop,
            seed,
        }
    }

    fn run(
        &self,
        environment: &Environment<'_>,
        instance: &Instance<'_>,
    ) -> Result<(String, bool), Error> {
        let _running = Running::start(&self.stop);
        let name = instance.env.get("name").and_then(serde_json::Value::as_str);
        random::seed(self.seed ^ Key::of(name).number());
        let template = environment.get_template(&instance.template.name)?;
        let env = instance.env.iter();
        let env = env.map(|(key, value)| (Value::from(key.as_str()), values::from_json(value)));
        let mut context = vec![("env", Dict::unchecked(env.collect()))];
        if let Some(properties) = instance.properties {
            context.push(("properties", values::from_json(properties)));
        }
        let captured = template.render_captured(Value::from_pairs(context))?;
        let printed_undefined = captured
            .state()
            .get_extension::<Meter>()
            .is_some_and(|meter| meter.printed_undefined);
        Ok((captured.into_output(), printed_undefined))
    }

    /// Where the first undefined value is used. A second rendering, strict in this one point,
    /// finds out: the first one cannot know its line.
    fn undefined_at(&self, instance: &Instance<'_>) -> String {
        let mut strict = self.templates.environment.clone();
        strict.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        let place = match self.run(&strict, instance) {
            Err(error) if error.kind() == ErrorKind::UndefinedError => self.place(&error, instance),
            Ok(_) | Err(_) => instance.template.path().to_owned(),
        };
        format!("{place}: an undefined value is printed, as nothing")
    }

    fn place(&self, error: &Error, instance: &Instance<'_>) -> String {
        let file = self.file(error, instance);
        error
            .line()
            .map_or_else(|| file.clone(), |line| format!("{file}:{line}"))
    }

    fn file(&self, error: &Error, instance: &Instance<'_>) -> String {
        let name = error.name().unwrap_or(&instance.template.name);
        self.files
            .named(name)
            .map_or(name, |import| import.path())
            .to_owned()
    }

    fn described(&self, error: &Error, instance: &Instance<'_>) -> EngineError {
        let error = innermost(error);
        let file = self.file(error, instance);
        let source = error
            .name()
            .and_then(|name| self.files.named(name))
            .unwrap_or(instance.template);
        let line = error.line();
        let shown = line.and_then(|line| source.content.lines().nth(line.checked_sub(1)?));
        let number = |value: usize| u32::try_from(value).ok();
        EngineError {
            code: code(error),
            message: format!("template '{file}' failed: {}", sentence(error)),
            file: Some(file),
            line: line.and_then(number),
            column: None,
            excerpt: shown
                .zip(line)
                .map(|(text, line)| excerpt(text, line))
                .unwrap_or_default(),
        }
    }
}

impl Engine for Jinja {
    fn render(&mut self, instance: &Instance<'_>) -> Result<Output, EngineError> {
        let rendered = self.run(&self.templates.environment, instance);
        let (text, printed_undefined) =
            rendered.map_err(|error| self.described(&error, instance))?;
        let warnings = printed_undefined.then(|| self.undefined_at(instance));
        Ok(Output {
            result: Rendered::Text(text),
            warnings: warnings.into_iter().collect(),
        })
    }
}

fn code(error: &Error) -> ErrorCode {
    match error.kind() {
        ErrorKind::OutOfFuel if error.detail() == Some(meter::TIME_IS_UP) => {
            ErrorCode::TemplateTimeout
        }
        ErrorKind::OutOfFuel => ErrorCode::TemplateFuel,
        ErrorKind::WriteFailure => ErrorCode::TemplateOutput,
        _ => ErrorCode::TemplateFailed,
    }
}

/// The error of an included file, a macro or a block, where it happened.
fn innermost(error: &Error) -> &Error {
    let mut innermost = error;
    while let Some(inner) =
        std::error::Error::source(innermost).and_then(|source| source.downcast_ref::<Error>())
    {
        innermost = inner;
    }
    innermost
}

fn sentence(error: &Error) -> String {
    let kind = error.kind().to_string();
    let detail = error.detail().map_or_else(
        || kind.clone(),
        |detail| match error.kind() {
            ErrorKind::InvalidOperation => detail.to_owned(),
            _ => format!("{kind}: {detail}"),
        },
    );
    rewrite::undone(&detail)
}

/// The line with the whole of it marked: a column in the rewritten text would mislead.
fn excerpt(line: &str, number: usize) -> String {
    const SHOWN: usize = 120;
    let indent = line.chars().take_while(|c| c.is_whitespace()).count();
    let text: String = line.chars().take(SHOWN).collect();
    let margin = number.to_string().len();
    format!(
        "{number} | {}\n{:margin$} | {:indent$}^",
        text.replace('\t', " ").trim_end(),
        "",
        ""
    )
}
