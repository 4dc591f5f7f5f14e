//! Which steps each kind of operation takes: the table of workflows.

use common::model::OperationType;

use super::step::Step;

pub fn steps(operation: OperationType) -> &'static [Step] {
    match operation {
        OperationType::Create | OperationType::Update => &[
            Step::Expand,
            Step::Check,
            Step::Store,
            Step::Apply,
            Step::Publish,
        ],
        // A deployment is first updated to the empty manifest, then removed (the design's "Deployments").
        OperationType::Delete => &[Step::Empty, Step::Remove, Step::Forget],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_workflows() {
        let row = |operation| format!("{operation:?}: {:?}", steps(operation));
        let table = [
            OperationType::Create,
            OperationType::Update,
            OperationType::Delete,
        ]
        .map(row);
        insta::assert_snapshot!(table.join("\n"), @r"
        Create: [Expand, Check, Store, Apply, Publish]
        Update: [Expand, Check, Store, Apply, Publish]
        Delete: [Empty, Remove, Forget]
        ");
    }
}
