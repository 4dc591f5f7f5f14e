//! The types that a layout instantiates, and where.

use std::collections::BTreeMap;

use common::api::manager::TypeInstance;
use common::model::{DeploymentName, Layout, ManifestName, TypeName};

/// Every node of the layout, as an instance of its type, in the layout's order.
pub fn of_layout(
    deployment: &DeploymentName,
    manifest: &ManifestName,
    layout: &Layout,
) -> Vec<TypeInstance> {
    let nodes = layout.walk().into_iter();
    nodes
        .map(|(path, node)| TypeInstance {
            name: node.name.clone(),
            type_name: node.type_name.clone(),
            deployment: deployment.clone(),
            manifest: manifest.clone(),
            path,
        })
        .collect()
}

/// How the number of instances of each type changes when `new` replaces `old`. Unchanged types are left out.
pub fn change(old: &[TypeInstance], new: &[TypeInstance]) -> BTreeMap<TypeName, i64> {
    let mut change: BTreeMap<TypeName, i64> = BTreeMap::new();
    for (instances, by) in [(old, -1), (new, 1)] {
        for instance in instances {
            *change.entry(instance.type_name.clone()).or_default() += by;
        }
    }
    change.retain(|_, by| *by != 0);
    change
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn instances(layout: serde_json::Value) -> Vec<TypeInstance> {
        let layout = serde_json::from_value(layout).unwrap();
        of_layout(
            &DeploymentName::parse("web").unwrap(),
            &ManifestName::parse("m-1").unwrap(),
            &layout,
        )
    }

    fn nested() -> Vec<TypeInstance> {
        instances(json!({"resources": [
            {"name": "web", "type": "replicatedservice:v1", "properties": {}, "resources": [
                {"name": "web-rc", "type": "ReplicationController"},
                {"name": "web-service", "type": "Service"},
            ]},
        ]}))
    }

    #[test]
    fn templates_and_primitives_are_listed_with_their_paths() {
        let listed: Vec<_> = nested()
            .iter()
            .map(|i| format!("{} {} {}", i.type_name, i.name, i.path))
            .collect();
        let expected = [
            "replicatedservice:v1 web $.resources[0]",
            "ReplicationController web-rc $.resources[0].resources[0]",
            "Service web-service $.resources[0].resources[1]",
        ];
        assert_eq!(listed, expected);
    }

    #[test]
    fn a_change_counts_only_what_differs() {
        let new = instances(
            json!({"resources": [{"name": "a", "type": "Service"}, {"name": "b", "type": "Service"}]}),
        );
        let change: Vec<_> = change(&nested(), &new)
            .into_iter()
            .map(|(name, by)| format!("{name} {by}"))
            .collect();
        assert_eq!(
            change,
            [
                "ReplicationController -1",
                "Service 1",
                "replicatedservice:v1 -1"
            ]
        );
    }
}
