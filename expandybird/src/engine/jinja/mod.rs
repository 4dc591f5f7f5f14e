//! Jinja templates, in this process: minijinja with the Python behaviour of Jinja2.
//!
//! Responsible for the behaviour that template authors know from Jinja2. COMPATIBILITY.md lists the differences. Steps
//! (fuel), written bytes and recursion are limited. Renderings do not see each other's state. A set of files is
//! compiled once and cached by content.
//!
//! Operators, literals and some statements are rewritten into calls before a template is compiled ([`rewrite`]),
//! because minijinja's own cannot format text, have no limits, and make values that a template cannot change.

mod failure;
mod filters;
mod formatting;
mod globals;
mod meter;
mod methods;
mod operators;
mod predicates;
mod rewrite;
mod signature;
mod values;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value};

use super::{Engine, EngineError, Instance, Output, Rendered};
use crate::cache::{Cache, Key};
use crate::input::Files;
use failure::Failure;
use meter::Meter;
use values::dict::Dict;

/// How many compiled sets of templates are cached.
const KEPT: usize = 128;
/// How deep macros, includes and blocks may nest. Each needs a few frames of the thread's stack.
const RECURSION: usize = 100;

/// The error text of a panic.
pub const PANICKED: &str =
    "the template engine itself failed here; please report it with the template";

/// The limits of one rendering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Limits {
    /// Steps of the template. A loop with three expressions takes about ten per iteration. Five values may be compared
    /// for each.
    pub fuel: u64,
    /// Written bytes, including those written into variables.
    pub written_bytes: usize,
}

impl Default for Limits {
    /// Two million steps take less than a second. Real templates take less than a hundredth of them.
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
        operators::chain::register(&mut environment);
        rewrite::leave::register(&mut environment);
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

/// The named functions of templates, in groups, each with its parameters in Python's notation.
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
        meter::start(environment.fuel());
        let name = instance.env.get("name").and_then(serde_json::Value::as_str);
        globals::random::seed(self.seed ^ Key::of(name).number());
        let source;
        let template = match self.files.named(&instance.template.name) {
            Some(file) => environment.get_template(&file.name)?,
            // A text that is not a file of its own, such as a schema's notes.
            None => {
                source = rewrite::rewrite(&instance.template.content);
                environment.template_from_named_str(&instance.template.name, &source)?
            }
        };
        let env = instance.env.iter();
        let env = env.map(|(key, value)| (Value::from(key.as_str()), values::from_json(value)));
        let mut context = vec![("env", Dict::unchecked(env.collect()))];
        if let Some(properties) = instance.properties {
            context.push(("properties", values::from_json(properties)));
        }
        if let Some(outputs) = instance.outputs {
            let outputs = outputs.iter();
            let outputs =
                outputs.map(|(key, value)| (Value::from(key.as_str()), values::from_json(value)));
            context.push(("outputs", Dict::unchecked(outputs.collect())));
        }
        let context = Value::from_pairs(context);
        // A panic of the library is a failure of this template only.
        let rendering = AssertUnwindSafe(|| template.render_captured(context));
        let captured = catch_unwind(rendering)
            .map_err(|_| Error::new(ErrorKind::InvalidOperation, PANICKED))??;
        let printed_undefined = captured
            .state()
            .get_extension::<Meter>()
            .is_some_and(|meter| meter.printed_undefined);
        Ok((captured.into_output(), printed_undefined))
    }

    /// The location where the first undefined value is used. A second rendering, strict about undefined values, finds
    /// it, because the first one does not know its line.
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
            warnings: warnings.into_iter().collect(),
            ..Output::new(Rendered::Text(text))
        })
    }
}
