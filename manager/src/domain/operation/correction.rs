//! How a drift correction differs from the apply that it repeats.

use common::api::deployer::Policies;
use common::model::{ConflictPolicy, DriftPolicy, Resource};
use serde_json::{Map, Value, json};

const POLICY: &str = "conflictPolicy";

/// Others own the fields that they changed. The correction takes them back, unless the resource yields them.
pub fn take_back(resources: &mut [Resource]) {
    for resource in resources {
        let metadata = resource
            .metadata
            .get_or_insert_with(|| Value::Object(Map::new()));
        if metadata.is_null() {
            *metadata = Value::Object(Map::new());
        }
        if let Some(entries) = metadata.as_object_mut()
            && entries.get(POLICY) != Some(&json!("YIELD"))
        {
            entries.insert(POLICY.to_owned(), json!("TAKE"));
        }
    }
}

/// The policies of a correction: those of the apply, except for fields that others own.
pub fn policies(asked: Policies) -> Policies {
    let yields = asked
        .conflict
        .filter(|policy| *policy == ConflictPolicy::Yield);
    Policies {
        conflict: yields,
        ..asked
    }
}

/// What users should know about a policy that this manager does not follow.
pub const UNCHECKED: &str = "driftPolicy is CORRECT, but this manager does not check for drift: its operator has to start it with --drift-interval";

/// Whether drift would be corrected, if this manager checked for it.
pub fn is_unchecked(policy: DriftPolicy, checks: bool) -> bool {
    policy == DriftPolicy::Correct && !checks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_correction_has_the_policies_of_its_write_and_yields_only_where_that_did() {
        let of = |asked: Value| policies(serde_json::from_value(asked).unwrap());
        for (asked, expected) in [
            (json!({"update": "REPLACE"}), json!({"update": "REPLACE"})),
            (json!({"conflict": "YIELD"}), json!({"conflict": "YIELD"})),
            (
                json!({"conflict": "FAIL", "create": "CREATE"}),
                json!({"create": "CREATE"}),
            ),
        ] {
            assert_eq!(serde_json::to_value(of(asked)).unwrap(), expected);
        }
    }

    #[test]
    fn fields_are_taken_back_except_where_the_resource_yields_them() {
        let mut resources: Vec<Resource> = serde_json::from_value(json!([
            {"name": "a", "type": "Pod"},
            {"name": "b", "type": "Pod", "metadata": {"dependsOn": ["a"]}},
            {"name": "c", "type": "Pod", "metadata": {"conflictPolicy": "YIELD"}},
            {"name": "d", "type": "Pod", "metadata": {"conflictPolicy": "FAIL"}},
        ]))
        .unwrap();
        take_back(&mut resources);
        let policies: Vec<_> = resources
            .iter()
            .map(|resource| resource.metadata.as_ref().unwrap()[POLICY].clone())
            .collect();
        assert_eq!(policies, ["TAKE", "TAKE", "YIELD", "TAKE"]);
        assert_eq!(
            resources[1].metadata.as_ref().unwrap()["dependsOn"],
            json!(["a"])
        );
    }
}
