//! What expandybird is asked and answers.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::{Configuration, Import, Layout};

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
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExpandResponse {
    /// Flat: no resource of a type that the request's imports name.
    pub config: Configuration,
    pub layout: Layout,
    /// Each distinct type of `config.resources`, in the order of first use: primitives, and references that the manager can resolve.
    #[serde(default)]
    pub unresolved: Vec<String>,
    #[serde(default)]
    pub warnings: Vec<String>,
}
