//! Changes of a Template object: a merge patch (RFC 7396), or a list of operations (RFC 6902).
//!
//! An operation may copy a part of the Template, and the next one the copy. So what is copied together is bounded, and the
//! result is read again within the limits of a request.

use common::json::{self, JsonError, Limits};
use json_patch::PatchOperation;
use serde_json::Value;

/// Most operations of a patch.
pub const OPERATIONS: usize = 1_000;
/// All copies of a patch together.
const COPIED_BYTES: usize = 8 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq)]
pub enum TemplatePatch {
    Merge(Value),
    Operations(Vec<PatchOperation>),
}

/// Why a patch does not fit the Template.
#[derive(Debug, thiserror::Error)]
pub enum PatchFault {
    #[error("operation {place} of the patch cannot be applied at {path:?}: {reason}")]
    Unfit {
        /// Counted from 1.
        place: usize,
        path: String,
        reason: String,
    },
    #[error("the patch copies more than {} MiB", COPIED_BYTES / (1024 * 1024))]
    Copies,
    #[error("the Template with the patch is too large: {0}")]
    Large(#[from] JsonError),
}

impl TemplatePatch {
    /// The Template after the patch.
    pub fn apply(&self, mut document: Value) -> Result<Value, PatchFault> {
        match self {
            Self::Merge(patch) => json_patch::merge(&mut document, patch),
            Self::Operations(operations) => apply(operations, &mut document)?,
        }
        Ok(json::from_slice(
            document.to_string().as_bytes(),
            &Limits::REQUEST,
        )?)
    }
}

fn apply(operations: &[PatchOperation], document: &mut Value) -> Result<(), PatchFault> {
    let mut copied = 0;
    for (place, operation) in operations.iter().enumerate() {
        if let PatchOperation::Copy(copy) = operation {
            let part = document.pointer(copy.from.as_str());
            copied += part.map_or(0, |part| part.to_string().len());
            if copied > COPIED_BYTES {
                return Err(PatchFault::Copies);
            }
        }
        // The document is thrown away if one of them fails.
        let applied = json_patch::patch_unsafe(document, std::slice::from_ref(operation));
        applied.map_err(|error| PatchFault::Unfit {
            place: place + 1,
            path: error.path.to_string(),
            reason: error.kind.to_string(),
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn operations(list: Value) -> TemplatePatch {
        TemplatePatch::Operations(serde_json::from_value(list).unwrap())
    }

    fn template() -> Value {
        json!({"kind": "Template", "labels": {"a": "1", "b": "2"}, "objects": [{"kind": "A"}]})
    }

    #[test]
    fn a_merge_patch_sets_and_removes_fields() {
        let patch = TemplatePatch::Merge(json!({"labels": {"a": null, "c": "3"}, "objects": []}));
        let expected = json!({"kind": "Template", "labels": {"b": "2", "c": "3"}, "objects": []});
        assert_eq!(patch.apply(template()).unwrap(), expected);
    }

    #[test]
    fn operations_apply_one_after_the_other_or_none() {
        let patch = operations(json!([
            {"op": "test", "path": "/labels/a", "value": "1"},
            {"op": "add", "path": "/objects/-", "value": {"kind": "B"}},
            {"op": "move", "from": "/labels/a", "path": "/labels/c"},
            {"op": "remove", "path": "/objects/0"},
        ]));
        let expected =
            json!({"kind": "Template", "labels": {"b": "2", "c": "1"}, "objects": [{"kind": "B"}]});
        assert_eq!(patch.apply(template()).unwrap(), expected);
        let stale = operations(json!([
            {"op": "remove", "path": "/labels/b"},
            {"op": "test", "path": "/labels/a", "value": "9"},
        ]));
        let said = stale.apply(template()).unwrap_err().to_string();
        assert_eq!(
            said,
            "operation 2 of the patch cannot be applied at \"/labels/a\": value did not match"
        );
    }

    #[test]
    fn copies_of_copies_are_bounded_in_bytes_and_depth() {
        let double = |n: usize| json!({"op": "copy", "from": "", "path": format!("/{n}")});
        let patch = operations((0..40).map(double).collect());
        let fault = patch.apply(json!({"kind": "x".repeat(1_000)})).unwrap_err();
        assert!(
            matches!(fault, PatchFault::Copies | PatchFault::Large(_)),
            "{fault}"
        );
        let deeper = json!({"op": "move", "from": "/a", "path": "/b"});
        let nested = json!({"op": "add", "path": "/a", "value": {}});
        let into = json!({"op": "move", "from": "/b", "path": "/a/c"});
        let round = [deeper, nested, into];
        let rounds: Vec<Value> = round.iter().cycle().take(900).cloned().collect();
        let fault = operations(rounds.into()).apply(json!({"a": {}}));
        assert!(matches!(fault, Err(PatchFault::Large(_))), "{fault:?}");
    }
}
