//! Whether an object may be deleted to be made anew, because it cannot be changed into what is asked for.
//!
//! Whether a new object would help is the API server's to say, never the words of a message: its validation names the fields
//! that it refuses (policies and webhooks name none), and a dry run creates the object as a new one. Only where both fit is
//! the refusal about the change, and only then is an object deleted. The dry run does not see what the old object holds: a
//! quota that is used up by it, or an address of a Service.

use common::model::UpdatePolicy;
use serde_json::Value;

use crate::kubectl::{KubectlError, ObjectFault};
use crate::plan::{self, Node};

/// Whether the refusal can be about the change alone: then a create has to be tried.
pub fn may_help(error: &KubectlError) -> bool {
    error.fault() == Some(ObjectFault::Invalid)
}

/// The refusal, and what came of the try to create the object anew. Nobody is talked into deleting what holds data.
pub fn failure(
    node: &Node,
    error: &KubectlError,
    would_help: &Result<bool, KubectlError>,
) -> String {
    let may_replace = node.metadata.update_policy == UpdatePolicy::Replace;
    match would_help {
        Ok(true) if !may_replace && !plan::holds_data(&node.object) => {
            format!("{error}; with the update policy REPLACE it is deleted and made anew")
        }
        Err(refusal) if may_replace => format!(
            "{error}; it is not replaced, because the API server would not create the new object: {refusal}"
        ),
        _ => error.to_string(),
    }
}

/// Why the object must not be deleted, though its policy is REPLACE.
pub fn obstacle(live: &Value) -> Option<String> {
    let retention = &live["spec"]["persistentVolumeClaimRetentionPolicy"]["whenDeleted"];
    let loses_claims = live["kind"] == "StatefulSet" && retention == "Delete";
    loses_claims.then(|| {
        "its claims would be deleted with it: set spec.persistentVolumeClaimRetentionPolicy.whenDeleted to Retain first".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_stateful_set_that_takes_its_claims_along_is_not_replaced() {
        let set = |when: &str| json!({"kind": "StatefulSet", "spec": {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": when}}});
        assert!(obstacle(&set("Delete")).is_some());
        assert_eq!(obstacle(&set("Retain")), None);
    }
}
