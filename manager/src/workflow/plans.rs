//! Which steps each kind of operation takes: the table of workflows.

use super::step::Step;
use crate::domain::operation::Intent;

pub fn steps(intent: &Intent) -> &'static [Step] {
    match intent {
        Intent::Create { .. } | Intent::Update { .. } => &[
            Step::Expand,
            Step::Check,
            Step::Store,
            Step::Apply,
            Step::Publish,
        ],
        // A deployment is first updated to the empty manifest, then removed (the design's "Deployments").
        Intent::Delete { .. } => &[Step::Empty, Step::Remove, Step::Forget],
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use common::model::Namespace;

    use super::*;

    #[test]
    fn the_table_of_workflows() {
        let row = |intent: Intent| format!("{:?}: {:?}", intent.operation_type(), steps(&intent));
        let table = [
            Intent::Create {
                namespace: Namespace::parse("default").unwrap(),
                description: String::new(),
                labels: BTreeMap::new(),
            },
            Intent::Update {
                description: None,
                labels: None,
            },
            Intent::Delete {
                delete_policy: None,
            },
        ]
        .map(row);
        insta::assert_snapshot!(table.join("\n"), @r"
        Create: [Expand, Check, Store, Apply, Publish]
        Update: [Expand, Check, Store, Apply, Publish]
        Delete: [Empty, Remove, Forget]
        ");
    }
}
