//! Faults of a configuration, its templates and schemas, and their locations.

use common::api::error::{ErrorBody, ErrorCode, Location};
use common::model::NameError;
use common::model::object::metadata::MetadataError;
use common::redact::Redactor;

use super::schema::SchemaFault;
use crate::engine::EngineError;
use crate::input::{AmbiguousImport, BudgetError};

/// One variant per kind of fault. The wording of Google's Deployment Manager is kept if it is clear, with its capitals
/// and full stops, because users search for it.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("'{name}' is not valid YAML: {reason}")]
    NotYaml { name: String, reason: String },
    #[error("the output of '{template}' is not valid YAML: {reason}")]
    OutputNotYaml { template: String, reason: String },
    #[error("{what} is too large: {reason}")]
    YamlTooLarge { what: String, reason: String },
    #[error("'{name}' contains {found}; a configuration must be a map with 'resources:'")]
    NotAMap { name: String, found: &'static str },
    #[error(
        "'{name}' {found}; write 'resources:' for a configuration, or 'apiVersion:' and 'kind:' for each Kubernetes object"
    )]
    NoResources { name: String, found: String },
    #[error(
        "'{name}' has the unknown key '{key}'; a configuration has 'resources', 'imports' and 'outputs', and keys for anchors begin with 'x-'"
    )]
    UnknownKey { name: String, key: String },
    #[error("'{field}' is {found}; it must be a list of maps, each with {entries}")]
    NotAList {
        field: &'static str,
        found: &'static str,
        entries: &'static str,
    },
    #[error("an entry of '{field}' is {found}; each must be a map with {entries}")]
    EntryNotAMap {
        field: &'static str,
        found: &'static str,
        entries: &'static str,
    },
    #[error("Resource name '{name}' is not unique in {list}.")]
    DuplicateName { name: String, list: String },
    #[error("Output name '{name}' is not unique in {list}.")]
    DuplicateOutput { name: String, list: String },
    #[error("Resource does not have a name.")]
    MissingName,
    #[error("Resource does not have type defined.")]
    MissingType,
    #[error("the resource's {field} is {found}; quote it to make it text")]
    NotText {
        field: &'static str,
        found: &'static str,
    },
    #[error("'{key}' is not supported: {instead}")]
    Unsupported {
        key: &'static str,
        instead: &'static str,
    },
    #[error("an output needs a 'name', which is text, and a 'value'")]
    IncompleteOutput,
    #[error(transparent)]
    Name(#[from] NameError),
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    #[error(transparent)]
    AmbiguousImport(#[from] AmbiguousImport),
    #[error("Template did not return a 'resources:' field.")]
    NoResourcesField,
    #[error(
        "'{path}' is imported as the type '{name}', but is not a template: its name must end in {supported}, and .yml and .json must hold Kubernetes objects (documents with 'apiVersion' and 'kind')"
    )]
    UnsupportedLanguage {
        name: String,
        path: String,
        supported: String,
    },
    #[error(transparent)]
    Schema(#[from] SchemaFault),
    #[error("'{text}' is not a reference: {reason}; write $(ref.NAME.PATH)")]
    MalformedReference { text: String, reason: &'static str },
    #[error("'{text}' names no resource of this deployment: there is no '{name}'")]
    UnknownReference { text: String, name: String },
    #[error("'{text}' names no output: the template instance '{name}' has {outputs}")]
    UnknownOutput {
        text: String,
        name: String,
        outputs: String,
    },
    #[error("'{text}' has no value: the output has no '{segment}'")]
    NoSuchPath { text: String, segment: String },
    #[error(
        "'{text}' may mean {count} resources named '{name}' in different templates; refer to it by an output of its template"
    )]
    AmbiguousReference {
        text: String,
        name: String,
        count: usize,
    },
    #[error("'dependsOn' names no resource of this deployment: there is no '{name}'")]
    UnknownDependency { name: String },
    #[error("references and dependencies form a cycle: {chain}")]
    Cycle { chain: String },
    #[error(
        "following the references takes more than {limit} steps; give resources of the same name other names, and refer to fewer outputs"
    )]
    TooManyReferences { limit: usize },
    #[error(
        "references to outputs and 'dependsOn' add more than {limit} values; depend on fewer resources, and refer to the part of an output that is needed"
    )]
    TooMuchBroughtIn { limit: usize },
    #[error(transparent)]
    Budget(#[from] BudgetError),
    #[error(
        "'{file}' crashed its expansion process more than once for this caller; it is not expanded again for the caller for some minutes, unless it changes"
    )]
    Blocked { file: String },
    #[error("{0}")]
    Engine(Box<EngineError>),
}

impl From<EngineError> for Fault {
    fn from(error: EngineError) -> Self {
        Self::Engine(Box::new(error))
    }
}

impl Fault {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotYaml { .. }
            | Self::OutputNotYaml { .. }
            | Self::NotAMap { .. }
            | Self::NoResources { .. }
            | Self::UnknownKey { .. }
            | Self::NotAList { .. }
            | Self::EntryNotAMap { .. }
            | Self::DuplicateName { .. }
            | Self::DuplicateOutput { .. }
            | Self::MissingName
            | Self::MissingType
            | Self::NotText { .. }
            | Self::Unsupported { .. }
            | Self::IncompleteOutput
            | Self::Name(_)
            | Self::Metadata(_)
            | Self::AmbiguousImport(_)
            | Self::NoResourcesField
            | Self::UnsupportedLanguage { .. } => ErrorCode::InvalidConfiguration,
            Self::YamlTooLarge { .. } => ErrorCode::YamlTooLarge,
            Self::Schema(fault) => fault.code(),
            Self::MalformedReference { .. }
            | Self::UnknownReference { .. }
            | Self::UnknownOutput { .. }
            | Self::NoSuchPath { .. }
            | Self::AmbiguousReference { .. }
            | Self::UnknownDependency { .. }
            | Self::Cycle { .. } => ErrorCode::InvalidReference,
            Self::TooManyReferences { .. } | Self::TooMuchBroughtIn { .. } => {
                ErrorCode::TooManyReferences
            }
            Self::Budget(error) => error.code(),
            Self::Blocked { .. } => ErrorCode::TemplateBlocked,
            Self::Engine(error) => error.code,
        }
    }

    /// The faulty reference, as it is written.
    pub fn reference(&self) -> Option<&str> {
        match self {
            Self::MalformedReference { text, .. }
            | Self::UnknownReference { text, .. }
            | Self::UnknownOutput { text, .. }
            | Self::NoSuchPath { text, .. }
            | Self::AmbiguousReference { text, .. } => Some(text),
            _ => None,
        }
    }

    pub fn at(self, location: Location) -> ExpansionError {
        ExpansionError {
            fault: self,
            location,
            excerpt: String::new(),
            causes: Vec::new(),
            secrets: Redactor::default(),
        }
    }
}

/// A fault with its location.
#[derive(Debug, thiserror::Error)]
#[error("{}", .secrets.text(&.fault.to_string()))]
pub struct ExpansionError {
    pub fault: Fault,
    pub location: Location,
    /// The line of the fault, with a caret. Empty if there is none.
    pub excerpt: String,
    pub causes: Vec<ErrorBody>,
    /// The values to redact in it.
    secrets: Redactor,
}

impl ExpansionError {
    /// The error with these values redacted.
    pub fn without(mut self, secrets: Redactor) -> Self {
        self.secrets = secrets;
        self
    }

    pub fn with_excerpt(mut self, excerpt: String) -> Self {
        self.excerpt = excerpt;
        self
    }
}

impl From<ExpansionError> for ErrorBody {
    fn from(error: ExpansionError) -> Self {
        let mut message = error.fault.to_string();
        if !error.excerpt.is_empty() {
            message.push('\n');
            message.push_str(&error.excerpt);
        }
        // Before clipping, because half of a value could not be found.
        let message = error.secrets.text(&message).into_owned();
        let mut body = ErrorBody::new(error.fault.code(), message)
            .at(error.location)
            .caused_by(error.causes);
        error.secrets.error(&mut body);
        body
    }
}

/// The type of a value, for sentences.
pub fn kind(value: &serde_json::Value) -> &'static str {
    match value {
        serde_json::Value::Null => "null",
        serde_json::Value::Bool(_) => "a boolean",
        serde_json::Value::Number(_) => "a number",
        serde_json::Value::String(_) => "text",
        serde_json::Value::Array(_) => "a list",
        serde_json::Value::Object(_) => "a map",
    }
}
