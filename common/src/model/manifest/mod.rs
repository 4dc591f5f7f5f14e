//! A manifest: the desired state of a deployment, and its expansion. It never changes once it is stored.

pub mod configuration;
pub mod layout;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use self::configuration::{Configuration, Output};
use self::layout::Layout;
use super::deployment::preview::Preview;
use super::name::{DeploymentName, ManifestName, TypeName};
use super::template::Import;

/// One immutable revision of a deployment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// Chosen by the manager. Sorts by age within the deployment.
    pub name: ManifestName,
    /// The deployment that it belongs to.
    pub deployment: DeploymentName,
    /// When the manifest was stored, which is before it was applied.
    pub created_at: Timestamp,
    /// Its number among the deployment's manifests, from 1. Absent in manifests of earlier managers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// The configuration and its files, as the caller sent them.
    pub input_config: InputConfig,
    /// Primitives only. `outputs` has its own field.
    pub expanded_config: Configuration,
    /// The tree of template instances and primitives.
    pub layout: Layout,
    /// Each template reference with what it resolved to, in the order of resolution.
    #[serde(default)]
    pub resolved_types: Vec<ResolvedType>,
    /// The outputs of the configuration, with references that are not replaced yet.
    #[serde(default)]
    pub outputs: Vec<Output>,
    /// What its template says to its users, where references are not replaced yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// For comparisons of two manifests without their contents.
    pub digests: ManifestDigests,
    /// What applying it would do, if it was made as a preview. It stays in the manifest after the commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
}

/// The request as the caller sent it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct InputConfig {
    /// The YAML text of the configuration.
    pub content: String,
    /// The files that the caller sent along.
    #[serde(default)]
    pub imports: Vec<Import>,
}

/// A template reference and the exact version that it resolved to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ResolvedType {
    /// The reference, as the configuration or template writes it.
    #[serde(rename = "type")]
    pub type_name: TypeName,
    /// The exact version, such as `v1.0.1`. Absent for plain URLs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The URL or path of the template file.
    pub url: String,
    /// `sha256:<hex>` over the template and all files that came with it.
    pub sha256: String,
    /// The template, its schema and the schema's imports. Absent in manifests of the first releases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ResolvedFile>,
    /// The provenance file beside a Helm chart, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
}

/// What the publisher of a Helm chart signed with PGP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Provenance {
    /// Where the file was read.
    pub url: String,
    /// `sha256:<hex>` of its bytes.
    pub sha256: String,
    /// Whether its signature was verified. That is never done: only the digest in it was compared with the archive's.
    pub verified: bool,
}

/// One file of a template, as it was fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ResolvedFile {
    /// The name in templates: the reference, the reference with `.schema`, or the path of the file.
    pub name: String,
    /// Where the file was read: a URL, or a path in the folder of a registry.
    pub url: String,
    /// `sha256:<hex>` of its bytes.
    pub sha256: String,
}

/// `sha256:<hex>` of the parts of a manifest. Equal digests mean equal bytes, so a repeated expansion can be compared.
/// For a manifest with secrets the manager returns `hmac-sha256:<hex>` instead: equal for equal digests, under a key of
/// this manager.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ManifestDigests {
    /// Over `inputConfig`.
    pub input: String,
    /// Over `resolvedTypes`.
    pub resolved_types: String,
    /// Over `expandedConfig`, `layout` and `outputs`.
    pub expansion: String,
}
