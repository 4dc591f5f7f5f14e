//! The port through which an expansion runs templates, and the table of languages.
//!
//! Promises of every engine: the same instance gives the same result; a template can change
//! nothing that another one sees; what goes wrong is told with the template's file and line.

pub mod jinja;
pub mod python;

use common::api::error::ErrorCode;
use common::model::Import;
use serde_json::{Map, Value};

/// Runs one instance of a template.
pub trait Engine {
    fn render(&mut self, instance: &Instance<'_>) -> Result<Output, EngineError>;
}

/// What a template is given.
#[derive(Debug, Clone, Copy)]
pub struct Instance<'a> {
    pub template: &'a Import,
    pub language: Language,
    pub env: &'a Map<String, Value>,
    /// None: the resource has no properties, which is not the same as empty ones.
    pub properties: Option<&'a Value>,
}

/// What a template returned, and what its author should know.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    pub result: Rendered,
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Rendered {
    /// YAML.
    Text(String),
    /// The value itself, without the detour.
    Data(Value),
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

/// The languages of templates. A new one is a variant here, a line in [`Language::SUFFIXES`] and a file beside this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Jinja,
    Python,
}

impl Language {
    /// The table. YAML is Jinja: the original rendered it, and text without braces stays as it is.
    const SUFFIXES: [(&'static str, Language); 3] = [
        (".jinja", Self::Jinja),
        (".py", Self::Python),
        (".yaml", Self::Jinja),
    ];

    /// The language of a file, by its suffix.
    pub fn of(path: &str) -> Option<Self> {
        let matching = Self::SUFFIXES
            .iter()
            .find(|(suffix, _)| path.ends_with(suffix));
        matching.map(|&(_, language)| language)
    }

    /// The suffixes in words.
    pub fn supported() -> String {
        Self::SUFFIXES.map(|(suffix, _)| suffix).join(", ")
    }
}

/// The engines of one expansion.
pub struct Engines<J, P> {
    pub jinja: J,
    pub python: P,
}

impl<J: Engine, P: Engine> Engine for Engines<J, P> {
    fn render(&mut self, instance: &Instance<'_>) -> Result<Output, EngineError> {
        match instance.language {
            Language::Jinja => self.jinja.render(instance),
            Language::Python => self.python.render(instance),
        }
    }
}
