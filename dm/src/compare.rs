//! What two manifests have different.

use common::api::deployer::ResourceDiff;
use common::compare::resources;
use common::model::{DiffSummary, Manifest, ManifestName};
use serde::Serialize;

/// What going from one manifest to the other would ask for.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    pub from: ManifestName,
    pub to: ManifestName,
    /// Whether the configurations that were sent are the same, with all their files.
    pub same_input: bool,
    pub summary: DiffSummary,
    /// As the second manifest has them, then those that only the first has.
    pub resources: Vec<ResourceDiff>,
}

pub fn compare(from: &Manifest, to: &Manifest) -> Comparison {
    let resources = resources(
        &from.expanded_config.resources,
        &to.expanded_config.resources,
    );
    Comparison {
        from: from.name.clone(),
        to: to.name.clone(),
        same_input: from.input_config == to.input_config,
        summary: DiffSummary::of(&resources),
        resources,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn manifest(name: &str, resources: Value) -> Manifest {
        serde_json::from_value(json!({
            "name": name, "deployment": "web", "createdAt": "2026-01-01T00:00:00Z",
            "inputConfig": {"content": name}, "expandedConfig": {"resources": resources},
            "layout": {"resources": []}, "digests": {"input": "", "resolvedTypes": "", "expansion": ""},
        }))
        .unwrap()
    }

    fn between(before: Value, after: Value) -> Comparison {
        compare(&manifest("m-1", before), &manifest("m-2", after))
    }

    #[test]
    fn resources_come_go_and_change_field_by_field() {
        let before = json!([
            {"name": "web", "type": "Deployment", "properties": {"spec": {"replicas": 3, "paused": true, "list": [1, 2]}}},
            {"name": "old", "type": "Pod"},
            {"name": "same", "type": "Pod", "properties": {"a": 1}},
        ]);
        let after = json!([
            {"name": "web", "type": "Deployment", "properties": {"spec": {"replicas": 5, "list": [1, 2, 3]}, "metadata": {"labels": {"a.b/c": "x"}}}},
            {"name": "same", "type": "Pod", "properties": {"a": 1}},
            {"name": "new", "type": "Pod"},
        ]);
        let comparison = between(before, after);
        let told = crate::output::change::resources(&comparison.resources, false);
        insta::assert_snapshot!(told, @r#"
        ~ update   Deployment web
            ~ spec.replicas: 3 → 5
            + spec.list[2]: 3
            - spec.paused: true
            + metadata: {"labels":{"a.b/c":"x"}}
        + create   Pod new
        - delete   Pod old
        "#);
        assert!(comparison.summary.is_change() && !comparison.same_input);
    }
}
