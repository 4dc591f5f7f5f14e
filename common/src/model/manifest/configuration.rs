//! A configuration: the list of resources that a user sends, or that an expansion returns.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::name::{ResourceName, TypeName};

/// `{resources: [...], outputs: [...]}`. After expansion it has primitives only.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Configuration {
    /// In the order of the text. Names are unique in it.
    #[serde(default)]
    pub resources: Vec<Resource>,
    /// Empty if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Output>,
}

/// One entry of a configuration's `resources`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Resource {
    /// Unique in its list.
    pub name: ResourceName,
    /// A kind, a template reference, or the name of an import.
    #[serde(rename = "type")]
    pub type_name: TypeName,
    /// For a primitive, the Kubernetes object (missing parts are filled in when it is applied). For a template, its
    /// input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub properties: Option<Value>,
    /// Read by Deployment Manager ([`crate::model::ResourceMetadata::parse`]). Never part of the Kubernetes object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

/// One entry of a configuration's or a template's `outputs`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Output {
    /// Unique in its list.
    pub name: String,
    /// May contain references, until they are replaced.
    pub value: Value,
}

/// The outputs of a template instance, without their values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct InstanceOutputs {
    /// The name of the instance, one of the configuration's own resources.
    pub name: ResourceName,
    /// In the order of the template.
    pub outputs: Vec<PromisedOutput>,
}

/// The name of an output, and the kind of its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PromisedOutput {
    /// The name in references: `$(ref.INSTANCE.NAME)`.
    pub name: String,
    /// As the template wrote the value.
    pub kind: OutputKind,
}

/// What kind of value an output has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutputKind {
    /// JSON's `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A whole number or a decimal.
    Number,
    /// A text without references.
    String,
    /// A list, with or without references in it.
    List,
    /// A map, with or without references in it.
    Map,
    /// A reference. Its value is known when the other resource has it.
    Reference,
}

impl OutputKind {
    /// The spelling in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Number => "number",
            Self::String => "string",
            Self::List => "list",
            Self::Map => "map",
            Self::Reference => "reference",
        }
    }
}
