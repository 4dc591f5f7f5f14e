//! Requests to expandybird and its answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::cluster::{Capabilities, Lookup, LookupAnswer};
use super::manager::Expansion;
use super::plan::{PlanAnswer, PlanRequest};
use crate::model::{
    AppliedChart, Configuration, DeploymentName, GeneratedValue, Import, InstanceOutputs, Layout,
    ManifestName, Namespace, ResolvedType, Scope, SecretValue,
};

/// The header that identifies the caller of an expansion, by a digest of the user's name. expandybird shares its
/// processes fairly among callers.
pub const CALLER_HEADER: &str = "dm-caller";

/// `POST /expand`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExpandRequest {
    /// The name of the configuration's text in errors: a file name, or the deployment's name.
    pub name: String,
    /// The YAML text of the configuration.
    pub content: String,
    /// Templates, their schemas (`<name>.schema`) and all files that they import.
    #[serde(default)]
    pub imports: Vec<Import>,
    /// What templates see as `env`, except `name` and `type`: `deployment`, `project`, `namespace`, `manifest`,
    /// `current_time` (seconds), …
    #[serde(default)]
    pub env: Map<String, Value>,
    /// The scope of short references in a template, by the name of the template's import. Such references are resolved,
    /// and returned in the answer, as the full references that they stand for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scopes: BTreeMap<String, Scope>,
    /// Values that earlier expansions made, to be used again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<GeneratedValue>,
    /// The source of further values. The same seed gives the same values, so it is as secret as they are.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub seed: String,
    /// What the cluster can do, for charts. Absent: what Helm assumes without a cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Capabilities>,
    /// The charts of the deployment that were applied before. Other charts are installed for the first time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub charts: Vec<AppliedChart>,
    /// The objects that templates have asked for so far. Absent: nothing is looked up, and nothing is found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookups: Option<Vec<LookupAnswer>>,
    /// What plans of the Inter-operator are asked, and the live objects that they see.
    #[serde(default)]
    pub plans: PlanRequest,
    /// Whether the answer has the texts of charts too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub texts: bool,
}

impl ExpandRequest {
    /// The value of [`CALLER_HEADER`]. A digest, because a header cannot hold every user name, and expandybird does not
    /// need the names. Templates get the user's name in their environment.
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

/// The context of an expansion: what templates see as `env`, apart from what the expander adds for each instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// Templates see it as `deployment`.
    pub deployment: DeploymentName,
    /// Templates see it as `namespace` and `project`.
    pub namespace: Namespace,
    /// Templates see it as `manifest`. Not every expansion is stored under it.
    pub manifest: ManifestName,
    /// The caller. Templates see it as `username` and `current_user`.
    pub username: String,
    /// Seconds since 1970.
    pub current_time: i64,
}

impl Environment {
    /// What templates read, by its keys.
    pub fn to_map(&self) -> Map<String, Value> {
        let entries = [
            ("deployment", json!(self.deployment)),
            // Google's Deployment Manager has projects. The closest concept in a cluster is a namespace.
            ("project", json!(self.namespace)),
            ("namespace", json!(self.namespace)),
            ("manifest", json!(self.manifest)),
            ("current_time", json!(self.current_time)),
            ("username", json!(self.username)),
            // What templates of Google's Deployment Manager call it.
            ("current_user", json!(self.username)),
        ];
        entries
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    }
}

/// The answer of `POST /expand`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExpandResponse {
    /// A flat list. No resource in it has a type that the imports of the request name.
    pub config: Configuration,
    /// The tree that `config` is flattened from.
    pub layout: Layout,
    /// The distinct types of `config.resources`, in the order of first use: primitives, and references for the manager
    /// to resolve.
    #[serde(default)]
    pub unresolved: Vec<String>,
    /// What templates look up and the request has no answer to. If there is something, all else is empty: expand again
    /// with the answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lookups: Vec<Lookup>,
    /// Sentences for the user. They do not stop the expansion.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// The outputs of each template instance in the configuration itself that has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instance_outputs: Vec<InstanceOutputs>,
    /// `info.notes` of the schema of the configuration's only template instance, as text. Of several instances, each text
    /// with the instance's name above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// The property values that schemas mark as secret (`writeOnly: true`, `format: password`), given or default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretValue>,
    /// All values that templates made up, now or before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<GeneratedValue>,
    /// What each instance of a plan of the Inter-operator has to say. If one wants live objects, the rest of the answer
    /// is not complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plans: Vec<PlanAnswer>,
    /// What the charts printed, one chart after the other, as `helm template --include-crds` prints it. Secrets are in it.
    /// Absent if the request does not want it, or has no chart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texts: Option<String>,
}

impl ExpandResponse {
    /// The parts of a manifest after the last reference is resolved.
    pub fn into_expansion(self, resolved_types: Vec<ResolvedType>) -> Expansion {
        let mut expanded_config = self.config;
        let outputs = std::mem::take(&mut expanded_config.outputs);
        Expansion {
            expanded_config,
            layout: self.layout,
            resolved_types,
            outputs,
            warnings: self.warnings,
            notes: self.notes,
            instance_outputs: self.instance_outputs,
            secrets: self.secrets,
            values: self.values,
            plans: self.plans,
        }
    }
}
