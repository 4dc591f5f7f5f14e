//! What is different about applying a manifest again because the cluster has drifted from it.

use common::model::Resource;
use serde_json::{Map, Value, json};

const POLICY: &str = "conflictPolicy";

/// Others own the fields that they changed: to be corrected these are taken back, except where the resource yields them.
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

#[cfg(test)]
mod tests {
    use super::*;

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
