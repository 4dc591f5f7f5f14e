//! Whether an object may be deleted to be made anew, because it cannot be changed into what is asked for.

use common::model::UpdatePolicy;
use serde_json::Value;

use crate::kubectl::{KubectlError, ObjectFault};
use crate::plan::{self, Node};

/// How the API server says that a field cannot be changed, as opposed to a value that it would never take.
const UNCHANGEABLE: &[&str] = &[
    "immutable",
    "updates to ",
    "may not change",
    "may not be changed",
    "may not be updated",
    "cannot be changed",
    "cannot change",
    "can not be changed",
];

/// Whether a new object would do: the refusal is about the change and not about what is asked for.
pub fn would_help(error: &KubectlError) -> bool {
    let text = error.to_string();
    error.fault() == Some(ObjectFault::Refused)
        && UNCHANGEABLE.iter().any(|sign| text.contains(sign))
}

/// The refusal, and that the policy is not REPLACE where it would help. Nobody is talked into deleting what holds data.
pub fn told(node: &Node, error: &KubectlError) -> String {
    let is_kept = node.metadata.update_policy == UpdatePolicy::Apply;
    if is_kept && would_help(error) && !plan::holds_data(&node.object) {
        return format!("{error}; with the update policy REPLACE it is deleted and made anew");
    }
    error.to_string()
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
    use crate::kubectl::ObjectError;
    use serde_json::json;

    #[test]
    fn only_what_cannot_be_changed_is_replaced() {
        let cases = [
            (
                "Job.batch \"x\" is invalid: spec.template: Invalid value: field is immutable",
                true,
            ),
            (
                "StatefulSet.apps \"x\" is invalid: spec: Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden",
                true,
            ),
            (
                "Pod \"x\" is invalid: spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`",
                true,
            ),
            (
                "Service \"x\" is invalid: spec.ports[0].port: Required value",
                false,
            ),
            (
                "services \"x\" is forbidden: User \"u\" cannot patch resource",
                false,
            ),
            ("admission webhook \"w\" denied the request: no", false),
        ];
        for (text, expected) in cases {
            let error = KubectlError::Object(ObjectError {
                fault: ObjectFault::Refused,
                text: text.to_owned(),
                causes: Vec::new(),
            });
            assert_eq!(would_help(&error), expected, "{text}");
        }
    }

    #[test]
    fn a_stateful_set_that_takes_its_claims_along_is_not_replaced() {
        let set = |when: &str| json!({"kind": "StatefulSet", "spec": {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": when}}});
        assert!(obstacle(&set("Delete")).is_some());
        assert_eq!(obstacle(&set("Retain")), None);
    }
}
