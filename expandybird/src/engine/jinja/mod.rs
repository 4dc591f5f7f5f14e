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
mod failure;
mod filters;
mod formatting;
mod globals;
mod list;
mod meter;
mod methods;
mod operators;
mod order;
mod predicates;
mod pretty;
mod python;
mod random;
mod range;
mod repr;
mod rewrite;
mod signature;
mod slice;
mod values;
mod variadic;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value};

use super::{Engine, EngineError, Instance, Output, Rendered};
use crate::cache::{Cache, Key};
use crate::input::Files;
use dict::Dict;
use failure::Failure;
use meter::Meter;

/// Sets of templates kept compiled.
const KEPT: usize = 128;
/// Nested macros, includes and blocks; each is a few frames of the thread's stack.
const RECURSION: usize = 100;

/// What an error says that was a panic.
pub const PANICKED: &str =
    "the template engine itself failed here; please report it with the template";

/// What one rendering may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
        let mut environment = Environment::empty();
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
        predicates::register(&mut environment);
        globals::register(&mut environment);
        let imports = files
            .all()
            .iter()
            .map(|import| (import.name.clone(), Value::from(import.content.as_str())));
        environment.add_global("imports", Value::from_pairs(imports));
        Self { environment }
    }
}

/// Everything that a template can call by a name, in groups, each name with its parameters as Python writes them.
pub fn callables() -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
    let groups = [
        ("filters", filters::ROWS),
        ("tests", predicates::ROWS),
        ("globals", globals::ROWS),
    ];
    let all = groups.into_iter().chain(methods::TYPES);
    all.map(|(group, rows)| {
        (
            group,
            rows.iter()
                .map(|&(name, parameters, _)| (name, parameters))
                .collect(),
        )
    })
    .collect()
}

/// The engine of one expansion.
pub struct Jinja {
    files: Files,
    templates: Arc<Templates>,
    seed: u64,
}

impl Jinja {
    pub fn new(files: &Files, limits: Limits, cache: &JinjaCache) -> Self {
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
            seed,
        }
    }

    fn run(
        &self,
        environment: &Environment<'_>,
        instance: &Instance<'_>,
    ) -> Result<(String, bool), Error> {
        meter::start();
        let name = instance.env.get("name").and_then(serde_json::Value::as_str);
        random::seed(self.seed ^ Key::of(name).number());
        let template = environment.get_template(&instance.template.name)?;
        let env = instance.env.iter();
        let env = env.map(|(key, value)| (Value::from(key.as_str()), values::from_json(value)));
        let mut context = vec![("env", Dict::unchecked(env.collect()))];
        if let Some(properties) = instance.properties {
            context.push(("properties", values::from_json(properties)));
        }
        let context = Value::from_pairs(context);
        // A panic of the library is this template's failure, and nobody else's.
        let rendering = AssertUnwindSafe(|| template.render_captured(context));
        let captured = catch_unwind(rendering)
            .map_err(|_| Error::new(ErrorKind::InvalidOperation, PANICKED))??;
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
        let (place, name) = match self.run(&strict, instance) {
            Err(error) if error.kind() == ErrorKind::UndefinedError => {
                let failure = Failure::new(&error, &self.files, instance);
                let name = failure.undefined_name().map(str::to_owned);
                (failure.place(), name)
            }
            Ok(_) | Err(_) => (instance.template.path().to_owned(), None),
        };
        let name = name.map(|name| format!(" '{name}'")).unwrap_or_default();
        format!("{place}: an undefined value{name} is printed, as nothing")
    }
}

impl Engine for Jinja {
    fn render(&mut self, instance: &Instance<'_>) -> Result<Output, EngineError> {
        let rendered = self.run(&self.templates.environment, instance);
        let (text, printed_undefined) =
            rendered.map_err(|error| Failure::new(&error, &self.files, instance).into_error())?;
        let warnings = printed_undefined.then(|| self.undefined_at(instance));
        Ok(Output {
            result: Rendered::Text(text),
            warnings: warnings.into_iter().collect(),
        })
    }
}
