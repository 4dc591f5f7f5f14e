//! A manifest: what a deployment was asked to be, and what that expanded to. Immutable once stored.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::configuration::{Configuration, Output};
use super::layout::Layout;
use super::name::{DeploymentName, ManifestName, TypeName};
use super::preview::Preview;
use super::template::Import;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    pub name: ManifestName,
    pub deployment: DeploymentName,
    pub created_at: Timestamp,
    pub input_config: InputConfig,
    /// Primitives only; `outputs` stand beside it, not in it.
    pub expanded_config: Configuration,
    pub layout: Layout,
    /// Each template reference, with what it resolved to, in the order of resolution.
    #[serde(default)]
    pub resolved_types: Vec<ResolvedType>,
    #[serde(default)]
    pub outputs: Vec<Output>,
    pub digests: ManifestDigests,
    /// What applying it would do, if it was made as a preview; it stays with the manifest when that is committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
}

/// The request as the caller gave it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct InputConfig {
    /// The configuration's YAML text.
    pub content: String,
    #[serde(default)]
    pub imports: Vec<Import>,
}

/// A template reference and the very version that it resolved to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ResolvedType {
    #[serde(rename = "type")]
    pub type_name: TypeName,
    /// The exact version chosen, such as `v1.0.1`; absent for plain URLs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Where the template file was found.
    pub url: String,
    /// `sha256:<hex>` over the template and all that came with it.
    pub sha256: String,
    /// The template, its schema and what that imports; absent in manifests of the first managers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ResolvedFile>,
}

/// One file of a template, as it was fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ResolvedFile {
    /// What templates call it: the reference, the reference and `.schema`, or its path.
    pub name: String,
    pub url: String,
    /// `sha256:<hex>` of its bytes.
    pub sha256: String,
}

/// `sha256:<hex>` of the parts of a manifest: equal digests mean equal bytes, so an expansion can be checked by repeating it.
/// Of a manifest with secrets the manager tells others, `hmac-sha256:<hex>`: equal where these are, and only its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ManifestDigests {
    pub input: String,
    pub resolved_types: String,
    pub expansion: String,
}
