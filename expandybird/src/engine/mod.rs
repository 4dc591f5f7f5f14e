//! The port through which an expansion runs templates: one engine a file.
//!
//! Promises of every engine: the same instance gives the same result; a template can change
//! nothing that another one sees; what goes wrong is told with the template's file and line.

pub mod jinja;
pub mod manifests;
pub mod python;

use common::api::error::ErrorCode;
use common::manifests::Object;
use common::model::{Import, Language};
use serde_json::{Map, Value};

/// Runs one instance of a template.
pub trait Engine {
    fn render(&mut self, instance: &Instance<'_>) -> Result<Output, EngineError>;
}

/// What a template is given.
#[derive(Debug, Clone)]
pub struct Instance<'a> {
    pub template: &'a Import,
    pub language: Language,
    /// Of a template that is a folder, the files in it by their paths there; else none.
    pub tree: Vec<(&'a str, &'a Import)>,
    pub env: &'a Map<String, Value>,
    /// None: the resource has no properties, which is not the same as empty ones.
    pub properties: Option<&'a Value>,
}

impl Instance<'_> {
    /// Bytes of the template's own text, with all of its folder.
    pub fn bytes(&self) -> usize {
        let tree = self.tree.iter().map(|(_, file)| file.content.len());
        self.template.content.len() + tree.sum::<usize>()
    }
}

/// What a template returned, and what its author should know.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    pub result: Rendered,
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Rendered {
    /// YAML: a map with `resources`.
    Text(String),
    /// The value itself, without the detour.
    Data(Value),
    /// Kubernetes objects: each becomes a resource.
    Objects(Vec<Object>),
}

/// Why a template has no result, and where in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EngineError {
    pub code: ErrorCode,
    pub message: String,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    /// The line that is meant, with a caret; or the template's own frames.
    pub excerpt: String,
}

/// The engines of one expansion, each for a language of [`common::model::language::TABLE`].
pub struct Engines<'e>(Vec<(Language, Box<dyn Engine + 'e>)>);

impl<'e> Engines<'e> {
    pub fn new(engines: Vec<(Language, Box<dyn Engine + 'e>)>) -> Self {
        Self(engines)
    }
}

impl Engine for Engines<'_> {
    fn render(&mut self, instance: &Instance<'_>) -> Result<Output, EngineError> {
        let mut engines = self.0.iter_mut();
        match engines.find(|(language, _)| *language == instance.language) {
            Some((_, engine)) => engine.render(instance),
            None => Err(EngineError {
                code: ErrorCode::Internal,
                message: format!("no engine renders {:?}", instance.language),
                file: Some(instance.template.path().to_owned()),
                line: None,
                column: None,
                excerpt: String::new(),
            }),
        }
    }
}
