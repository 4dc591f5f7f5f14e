//! What the manager is asked and answers, apart from the nouns of [`crate::model`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::deployer::ObjectStatus;
use crate::model::{
    DeletePolicy, DeploymentName, Import, LayoutPath, ManifestName, Namespace, ResolvedType,
    ResourceName, TypeName,
};

/// `POST /deployments`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateDeployment {
    pub name: DeploymentName,
    /// The configuration's YAML text.
    pub content: String,
    #[serde(default)]
    pub imports: Vec<Import>,
    /// Where namespaced objects go that name no namespace; `default` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// `PUT /deployments/{d}`: a whole new configuration. What is absent of the rest stays as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateDeployment {
    pub content: String,
    #[serde(default)]
    pub imports: Vec<Import>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,
}

/// The query of every write. What is not known is refused: a misspelt wish must not become a change of the cluster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WriteQuery {
    /// Time for the whole operation, in milliseconds; the manager's default if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Only for `DELETE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete_policy: Option<DeletePolicy>,
}

/// `POST /expand`: as a create would, without storing or applying anything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expand {
    /// The deployment's name that templates see.
    pub name: DeploymentName,
    pub content: String,
    #[serde(default)]
    pub imports: Vec<Import>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
}

/// What `POST /expand` answers: the parts of a manifest that an expansion makes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Expansion {
    pub expanded_config: crate::model::Configuration,
    pub layout: crate::model::Layout,
    #[serde(default)]
    pub resolved_types: Vec<ResolvedType>,
    #[serde(default)]
    pub outputs: Vec<crate::model::Output>,
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// An item of `GET /deployments/{d}/manifests`: the contents are one request further.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestSummary {
    pub name: ManifestName,
    pub deployment: DeploymentName,
    pub created_at: jiff::Timestamp,
}

/// An item of `GET /types`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeSummary {
    pub name: TypeName,
    /// How many instances there are in active deployments.
    pub instances: u64,
}

/// An item of `GET /types/{t}/instances`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeInstance {
    pub name: ResourceName,
    #[serde(rename = "type")]
    pub type_name: TypeName,
    pub deployment: DeploymentName,
    pub manifest: ManifestName,
    /// Where it stands in the manifest's layout.
    pub path: LayoutPath,
}

/// `GET /deployments/{d}/resources`.
pub type Resources = super::page::Page<ObjectStatus>;

/// An item of `GET /registries`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistrySummary {
    pub name: String,
    /// `directory`, `github`, ….
    #[serde(rename = "type")]
    pub registry_type: String,
    pub url: String,
}

/// An item of `GET /registries/{r}/types`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateSummary {
    /// The template's name, with its collection if it is in a named one.
    pub name: String,
    /// All versions, lowest first.
    pub versions: Vec<String>,
}

/// `GET /types/{t}/metadata` and `GET /registries/{r}/types/{t}`: what a template is and takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TemplateDescription {
    #[serde(flatten)]
    pub resolved: ResolvedType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The template's schema, as it is written; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// The text of its `example.yaml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}
