//! Checks that an object has a valid address in the API server: each part of it becomes a segment of a path.
//!
//! The rules are Kubernetes' own (`ValidatePathSegmentName`, RFC 1123 labels for namespaces). Only the API server knows
//! further rules for names of one kind.

use common::model::{Namespace, ObjectRef};

use crate::kubectl::{ServedKind, is_segment};
use crate::plan::error::Problem;

const NAME_RULE: &str =
    "use 1 to 253 characters without '/', '%' and control characters, and neither '.' nor '..'";

/// Rejects an object without a valid address, and names the faulty field.
pub fn check(id: &ObjectRef, kind: &ServedKind) -> Result<(), Problem> {
    if let Some(namespace) = &id.namespace
        && let Err(error) = Namespace::parse(namespace.as_str())
    {
        let reason = format!("the object's {error}");
        return Err(at("metadata.namespace", reason));
    }
    if !is_segment(&id.name) {
        let reason = format!(
            "the object's name {:?} is not valid: {NAME_RULE}; without metadata.name, the object has the resource's name",
            clipped(&id.name)
        );
        return Err(at("metadata.name", reason));
    }
    let version = id.api_version.as_str();
    // In a path, everything after the group is one segment.
    let (group, version) = version.split_once('/').unwrap_or((version, version));
    let mut parts = [group, version, kind.resource.as_str()].into_iter();
    match parts.find(|part| !is_segment(part)) {
        None => Ok(()),
        Some(part) => {
            let reason = format!(
                "the definition of kind {} has the group, version or plural {:?}, which is not valid: {NAME_RULE}",
                id.kind,
                clipped(part)
            );
            Err(at("apiVersion", reason))
        }
    }
}

fn at(path: &'static str, reason: String) -> Problem {
    Problem::Address { path, reason }
}

/// An error clips a quoted text that is longer than this.
const QUOTED_CHARS: usize = 80;

fn clipped(text: &str) -> String {
    text.chars().take(QUOTED_CHARS).collect()
}
