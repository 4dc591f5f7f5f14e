//! What expandybird is asked and answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::manager::Expansion;
use crate::model::{
    Configuration, DeploymentName, Import, InstanceOutputs, Layout, ManifestName, Namespace,
    ResolvedType, Scope, SecretValue,
};

/// The header that says who asks for an expansion: a digest of the user's name. expandybird shares its
/// processes fairly among callers.
pub const CALLER_HEADER: &str = "dm-caller";

/// `POST /expand`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExpandRequest {
    /// What errors call the configuration's text: a file's name, or the deployment's.
    pub name: String,
    /// The configuration's YAML text.
    pub content: String,
    /// Templates, their schemas (`<name>.schema`) and all files that they import.
    #[serde(default)]
    pub imports: Vec<Import>,
    /// What templates see as `env`, apart from `name` and `type`: `deployment`, `project`, `namespace`, `manifest`, `current_time` (seconds), …
    #[serde(default)]
    pub env: Map<String, Value>,
    /// By an import's name: where the short references in that template lead. They are expanded, and told in the answer,
    /// as the full references that they mean.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scopes: BTreeMap<String, Scope>,
}

impl ExpandRequest {
    /// The value of [`CALLER_HEADER`]: the user is in the environment that templates see. A digest, because a
    /// header cannot hold every name, and because the expander needs no names.
    pub fn caller(&self) -> Option<String> {
        let user = self.env.get("username")?.as_str()?;
        let digest = Sha256::digest(user.as_bytes());
        Some(
            digest
                .iter()
                .take(16)
                .map(|byte| format!("{byte:02x}"))
                .collect(),
        )
    }
}

/// For whom an expansion is: what templates see as `env`, apart from what the expander adds for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    pub deployment: DeploymentName,
    pub namespace: Namespace,
    pub manifest: ManifestName,
    pub username: String,
    /// Seconds since 1970.
    pub current_time: i64,
}

impl Environment {
    pub fn to_map(&self) -> Map<String, Value> {
        let entries = [
            ("deployment", json!(self.deployment)),
            // Google's Deployment Manager has projects; the nearest thing in a cluster is a namespace.
            ("project", json!(self.namespace)),
            ("namespace", json!(self.namespace)),
            ("manifest", json!(self.manifest)),
            ("current_time", json!(self.current_time)),
            ("username", json!(self.username)),
        ];
        entries
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExpandResponse {
    /// Flat: no resource of a type that the request's imports name.
    pub config: Configuration,
    pub layout: Layout,
    /// Each distinct type of `config.resources`, in the order of first use: primitives, and references that the manager can resolve.
    #[serde(default)]
    pub unresolved: Vec<String>,
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Of each template instance of the configuration itself that has outputs, which.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instance_outputs: Vec<InstanceOutputs>,
    /// What schemas mark as secret (`writeOnly: true`, `format: password`), of whatever was given or filled in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretValue>,
}

impl ExpandResponse {
    /// The parts of a manifest, once nothing is left to resolve.
    pub fn into_expansion(self, resolved_types: Vec<ResolvedType>) -> Expansion {
        let mut expanded_config = self.config;
        let outputs = std::mem::take(&mut expanded_config.outputs);
        Expansion {
            expanded_config,
            layout: self.layout,
            resolved_types,
            outputs,
            warnings: self.warnings,
            instance_outputs: self.instance_outputs,
            secrets: self.secrets,
        }
    }
}
