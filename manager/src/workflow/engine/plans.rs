//! The steps of each kind of operation.

use crate::domain::operation::intent::Intent;
use crate::store::operations::Undo;
use crate::workflow::step::Step;

pub fn steps(intent: &Intent) -> &'static [Step] {
    match intent {
        Intent::Create(_) | Intent::Update(_) => &[
            Step::Expand,
            Step::Check,
            Step::Store,
            Step::Apply,
            Step::Publish,
        ],
        Intent::Preview { .. } => &[Step::Expand, Step::Check, Step::Diff, Step::Keep],
        Intent::Commit(_) => &[Step::Verify, Step::Adopt, Step::Apply, Step::Publish],
        Intent::Rollback { .. } => &[Step::Check, Step::Store, Step::Apply, Step::Publish],
        Intent::Correct => &[Step::Adopt, Step::Apply, Step::Publish],
        Intent::Test => &[Step::Test],
        // A deployment is first updated to the empty manifest, and then removed.
        Intent::Delete { .. } => &[Step::Empty, Step::Remove, Step::Forget],
    }
}

/// The way back from a failure: a rollback to a manifest that was checked when it was first applied, or a removal.
pub fn undo(undo: &Undo) -> &'static [Step] {
    match undo.to {
        Some(_) => &[Step::Store, Step::Apply, Step::Publish],
        None => &[Step::Empty, Step::Remove, Step::Forget],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_table_of_workflows() {
        let intents = [
            json!({"type": "create", "namespace": "default", "description": "", "labels": {}}),
            json!({"type": "update"}),
            json!({"type": "preview"}),
            json!({"type": "commit"}),
            json!({"type": "rollback", "to": "manifest-1"}),
            json!({"type": "correct"}),
            json!({"type": "test"}),
            json!({"type": "delete"}),
        ];
        let mut table: Vec<_> = intents
            .into_iter()
            .map(|intent| {
                let read: Intent = serde_json::from_value(intent.clone()).unwrap();
                format!("{}: {:?}", intent["type"].as_str().unwrap(), steps(&read))
            })
            .collect();
        for (name, to) in [
            ("undo", json!("manifest-1")),
            ("undo a create", json!(null)),
        ] {
            let back: Undo =
                serde_json::from_value(json!({"to": to, "manifest": "manifest-2"})).unwrap();
            table.push(format!("{name}: {:?}", undo(&back)));
        }
        insta::assert_snapshot!(table.join("\n"), @r"
        create: [Expand, Check, Store, Apply, Publish]
        update: [Expand, Check, Store, Apply, Publish]
        preview: [Expand, Check, Diff, Keep]
        commit: [Verify, Adopt, Apply, Publish]
        rollback: [Check, Store, Apply, Publish]
        correct: [Adopt, Apply, Publish]
        test: [Test]
        delete: [Empty, Remove, Forget]
        undo: [Store, Apply, Publish]
        undo a create: [Empty, Remove, Forget]
        ");
    }
}
