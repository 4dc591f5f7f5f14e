//! A configuration: the list of resources that a user sends, or that an expansion returns.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::name::{ResourceName, TypeName};

/// `{resources: [...], outputs: [...]}`. After expansion it has primitives only.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Configuration {
    #[serde(default)]
    pub resources: Vec<Resource>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Output>,
}

/// One entry of a configuration's `resources`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Resource {
    pub name: ResourceName,
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
    pub name: String,
    pub value: Value,
}

/// The outputs of a template instance, without their values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct InstanceOutputs {
    /// The name of the instance, one of the configuration's own resources.
    pub name: ResourceName,
    pub outputs: Vec<PromisedOutput>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PromisedOutput {
    pub name: String,
    pub kind: OutputKind,
}

/// What kind of value an output has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutputKind {
    Null,
    Boolean,
    Number,
    String,
    List,
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
