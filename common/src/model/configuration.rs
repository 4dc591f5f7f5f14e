//! A configuration: the list of resources that a user asks for, or that an expansion came to.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::name::{ResourceName, TypeName};

/// `{resources: [...], outputs: [...]}`; after expansion, primitives only.
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
    /// For a primitive, the Kubernetes object (what it leaves out is filled in at apply time); for a template, its input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub properties: Option<Value>,
    /// Deployment Manager's own, read by [`super::ResourceMetadata::parse`]; never part of the Kubernetes object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

/// One entry of a configuration's or a template's `outputs`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Output {
    pub name: String,
    pub value: Value,
}
