//! The port through which an expansion runs templates. Each engine has its own file.
//!
//! Promises of every engine: the same instance gives the same result. A template cannot change anything that another
//! one sees. An error has the template's file and line.

pub mod broker_config;
pub mod charts;
mod excerpt;
pub mod go_template;
pub mod jinja;
pub mod manifests;
pub mod plans;
pub mod python;
pub mod template_object;
pub mod values;

use std::sync::Arc;

use common::api::cluster::Lookup;
use common::api::error::{ErrorBody, ErrorCode};
use common::api::plan::{ObjectEdit, PlanAction, PlanSource, PlanStatus};
use common::manifests::Object;
use common::model::{Hook, Import, Language};
use serde_json::{Map, Value};
use values::{UsedValue, Values};

/// Runs one instance of a template.
pub trait Engine {
    /// The schema that a template implies, as text. A schema file beside the template overrides it.
    ///
    /// # Errors
    /// The template cannot be read.
    fn schema(&mut self, _: &Import, _: Language) -> Result<Option<Arc<str>>, EngineError> {
        Ok(None)
    }

    fn render(&mut self, instance: &Instance<'_>) -> Result<Output, EngineError>;
}

/// The input of a template.
#[derive(Debug, Clone)]
pub struct Instance<'a> {
    pub template: &'a Import,
    pub language: Language,
    /// The files of a template that is a folder, by their paths in it. Otherwise empty.
    pub tree: Vec<(&'a str, &'a Import)>,
    pub env: &'a Map<String, Value>,
    /// `None`: the resource has no properties, which differs from empty properties.
    pub properties: Option<&'a Value>,
    /// What the template may make up.
    pub values: Values<'a>,
    /// How often the instance was applied before.
    pub applied: u64,
    /// Of a text about an instance, the outputs that this has. A template has none to see.
    pub outputs: Option<&'a Map<String, Value>>,
    /// What a plan of the Inter-operator is asked.
    pub plan: PlanInputs<'a>,
}

/// What a plan of the Inter-operator is asked, and the live objects that were found for it.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlanInputs<'a> {
    pub action: PlanAction,
    pub found: Option<&'a Map<String, Value>>,
}

/// What a plan of the Inter-operator has to say beside its resources.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlanOutput {
    pub wants: Vec<PlanSource>,
    pub status: Option<PlanStatus>,
    pub selector: Option<String>,
    pub edits: Vec<ObjectEdit>,
}

impl Instance<'_> {
    /// Bytes of the template's own text, with all of its folder.
    pub fn bytes(&self) -> usize {
        let tree = self.tree.iter().map(|(_, file)| file.content.len());
        self.template.content.len() + tree.sum::<usize>()
    }
}

/// The result of a template, and warnings for its author.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    pub result: Rendered,
    pub warnings: Vec<String>,
    /// What the template says to its user.
    pub message: Option<String>,
    /// All values that the template made up, now or before.
    pub values: Vec<UsedValue>,
    /// What the template looks up and nobody has answered. Then the result is empty.
    pub lookups: Vec<Lookup>,
    /// Only of a plan.
    pub plan: Option<PlanOutput>,
    /// What a chart printed, if that is wanted.
    pub text: Option<String>,
}

impl Output {
    /// A result, and nothing beside it.
    pub fn new(result: Rendered) -> Self {
        Self {
            result,
            warnings: Vec::new(),
            message: None,
            values: Vec::new(),
            lookups: Vec::new(),
            plan: None,
            text: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Rendered {
    /// YAML: a map with `resources`.
    Text(String),
    /// The value itself.
    Data(Value),
    /// Kubernetes objects. Each becomes a resource.
    Objects(Vec<Object>),
    /// Kubernetes objects in an order. Each becomes a resource.
    Placed(Vec<Placed>),
}

/// An object, with what its template says about it as a resource.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    pub object: Object,
    /// The `metadata` of the resource, without its chart.
    pub metadata: Map<String, Value>,
    /// When it runs, if it is a hook.
    pub hook: Option<Hook>,
    /// Bytes of its text.
    pub bytes: usize,
}

/// Why a template has no result, and where it failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EngineError {
    pub code: ErrorCode,
    pub message: String,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    /// The line of the fault, with a caret, or the template's own frames.
    pub excerpt: String,
    /// If there are several faults, each with its place.
    pub causes: Vec<ErrorBody>,
}

impl EngineError {
    /// An error without a place.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            file: None,
            line: None,
            column: None,
            excerpt: String::new(),
            causes: Vec::new(),
        }
    }
}

/// The engines of one expansion, each for a language of [`common::model::language::TABLE`].
pub struct Engines<'e>(Vec<(Language, Box<dyn Engine + 'e>)>);

impl<'e> Engines<'e> {
    pub fn new(engines: Vec<(Language, Box<dyn Engine + 'e>)>) -> Self {
        Self(engines)
    }

    fn of(
        &mut self,
        template: &Import,
        language: Language,
    ) -> Result<&mut (dyn Engine + 'e), EngineError> {
        let mut engines = self.0.iter_mut();
        let found = engines.find(|(other, _)| *other == language);
        let engine = found.map(|(_, engine)| engine.as_mut());
        engine.ok_or_else(|| EngineError {
            file: Some(template.path().to_owned()),
            ..EngineError::new(
                ErrorCode::Internal,
                format!("no engine renders {language:?}"),
            )
        })
    }
}

impl Engine for Engines<'_> {
    fn schema(
        &mut self,
        template: &Import,
        language: Language,
    ) -> Result<Option<Arc<str>>, EngineError> {
        self.of(template, language)?.schema(template, language)
    }

    fn render(&mut self, instance: &Instance<'_>) -> Result<Output, EngineError> {
        self.of(instance.template, instance.language)?
            .render(instance)
    }
}
