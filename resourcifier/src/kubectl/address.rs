//! How a cluster addresses objects: the kinds that it serves, and the identity of an object of such a kind.

use common::model::ObjectRef;
use serde_json::Value;

/// The maximum length of a kind's name: Kubernetes' limit for subdomains.
const NAME_BYTES: usize = 253;

/// A kind in one version of its group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedKind {
    pub api_version: String,
    pub kind: String,
    /// The plural name in paths.
    pub resource: String,
    pub namespaced: bool,
    /// Whether objects of the kind can be applied. A `TokenReview` cannot.
    pub applicable: bool,
}

impl ServedKind {
    /// The API group. Empty for the core group.
    pub fn group(&self) -> &str {
        let parts = self.api_version.split_once('/');
        parts.map_or("", |(group, _)| group)
    }
}

/// The identity of an object, from its own fields. Missing fields are empty.
pub fn object_ref(object: &Value) -> ObjectRef {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    ObjectRef {
        api_version: text(&object["apiVersion"]),
        kind: text(&object["kind"]),
        namespace: object["metadata"]["namespace"].as_str().map(str::to_owned),
        name: text(&object["metadata"]["name"]),
    }
}

/// Whether a text is a single segment of a path, and stays unchanged in a URL.
pub fn is_segment(text: &str) -> bool {
    !matches!(text, "" | "." | "..")
        && text.len() <= NAME_BYTES
        && !text.contains(['/', '%'])
        && !text.chars().any(char::is_control)
}
