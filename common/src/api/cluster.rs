//! What expansions ask about the cluster: what it can do, and which objects it has.
//!
//! Only resourcifier reads the cluster. The manager takes its answers to expandybird.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::Identity;

/// The maximum number of lookups of one expansion.
pub const LOOKUPS: usize = 200;
/// The maximum size of all answers to the lookups of one expansion, as JSON.
pub const LOOKUP_BYTES: usize = 8 << 20;

/// `GET /capabilities`: what the cluster can do, as charts see it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// Such as `v1.37.0`. Absent: what Helm assumes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kube_version: Option<String>,
    /// `GROUP/VERSION` and `GROUP/VERSION/KIND`.
    #[serde(default)]
    pub api_versions: Vec<String>,
    /// Whether these versions are all. Otherwise there are also those that Helm assumes.
    #[serde(default)]
    pub complete: bool,
}

/// What a template asks for: an object, or, without a name, all objects of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lookup {
    /// `VERSION` or `GROUP/VERSION`, as objects write it: `v1`, `apps/v1`.
    pub api_version: String,
    /// The singular name, as objects write it: `ConfigMap`.
    pub kind: String,
    /// Empty: of the cluster, or of all namespaces.
    #[serde(default)]
    pub namespace: String,
    /// Empty: all objects of the kind.
    #[serde(default)]
    pub name: String,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LookupAnswer {
    /// As in the request.
    pub lookup: Lookup,
    /// The object or the list. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Value>,
    /// Why nothing can be found: the kind is unknown, or the caller may not read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl LookupAnswer {
    /// Its size as JSON.
    pub fn bytes(&self) -> usize {
        struct Counter(usize);
        impl std::io::Write for Counter {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0 += bytes.len();
                Ok(bytes.len())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let mut counter = Counter(0);
        // A value without maps of other keys than texts can always be written.
        let _ = serde_json::to_writer(&mut counter, self);
        counter.0
    }
}

/// `POST /lookups`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LookupRequest {
    /// At most [`LOOKUPS`].
    pub lookups: Vec<Lookup>,
    /// The user to impersonate, as in a write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<Identity>,
}

/// The answers, in the order of the request. Objects have no `managedFields`, but the values of Secrets.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LookupAnswers {
    /// One for each lookup.
    pub items: Vec<LookupAnswer>,
}
