//! A Template object, as it was read.

use serde_json::{Map, Value};

use crate::dialect::Dialect;

/// The API group and version of OpenShift's Templates.
pub const OPENSHIFT: &str = "template.openshift.io/v1";
/// What a Template of version `v1` may be called.
pub const KINDS: [&str; 3] = ["Template", "ProcessedTemplate", "TemplateConfig"];

/// A Template whose shape is right: its parameters are declared, its dialect is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    pub dialect: Dialect,
    pub parameters: Vec<Parameter>,
    /// Labels of all objects, by their keys; both may hold references.
    pub labels: Vec<(String, String)>,
    /// What its user is to read after the objects were made.
    pub message: Option<String>,
    pub objects: Vec<Value>,
    /// What its author should know.
    pub warnings: Vec<String>,
    /// Everything else of the document. The places of the fields above hold null.
    pub(crate) rest: Map<String, Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub display_name: Option<String>,
    pub description: Option<String>,
    /// The default, or the value that was chosen. Empty is the same as none.
    pub value: String,
    pub required: bool,
    /// What its values must be.
    pub kind: Option<Kind>,
    /// The name of a generator.
    pub generate: Option<String>,
    /// What the generator is given.
    pub from: Option<String>,
}

/// The type of a parameter. It says which values are valid, and not how they are substituted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    String,
    Int,
    Bool,
    Base64,
}

impl Kind {
    pub const NAMES: [&str; 4] = ["string", "int", "bool", "base64"];

    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "string" => Some(Self::String),
            "int" => Some(Self::Int),
            "bool" => Some(Self::Bool),
            "base64" => Some(Self::Base64),
            _ => None,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Int => "int",
            Self::Bool => "bool",
            Self::Base64 => "base64",
        }
    }
}

impl Template {
    /// Whether a document says that it is a Template.
    pub fn recognises(document: &Value) -> bool {
        let text = |key: &str| document.get(key).and_then(Value::as_str);
        match (text("apiVersion"), text("kind")) {
            (Some(OPENSHIFT), Some(kind)) => kind == "Template",
            (Some("v1"), Some(kind)) => KINDS.contains(&kind),
            _ => false,
        }
    }

    /// Its `metadata.name`. A Template that is only processed may have none.
    pub fn name(&self) -> &str {
        let name = self.rest.get("metadata").and_then(|it| it.get("name"));
        name.and_then(Value::as_str).unwrap_or_default()
    }

    /// One of its annotations.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        annotation(self.rest.get("metadata"), key)
    }
}

/// An annotation in a `metadata`.
pub fn annotation<'a>(metadata: Option<&'a Value>, key: &str) -> Option<&'a str> {
    metadata?.get("annotations")?.get(key)?.as_str()
}

impl Parameter {
    /// Whether its values are to be hidden: nobody chose a generated one, and Base64 is what keys are written in.
    pub fn is_secret(&self) -> bool {
        self.generate.is_some() || self.kind == Some(Kind::Base64)
    }
}
