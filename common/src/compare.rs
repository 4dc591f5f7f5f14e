//! The differences between two expanded configurations: resources, and fields of their properties. Knows no cluster.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::api::deployer::{Basis, FieldChange, ResourceDiff, ResourceIntent};
use crate::model::{ObjectRef, Resource};

/// In the order of the second configuration, then those that only the first has.
pub fn resources(from: &[Resource], to: &[Resource]) -> Vec<ResourceDiff> {
    let mut before = BTreeMap::new();
    for (key, resource) in keyed(from) {
        before.insert(key, resource);
    }
    let mut resources = Vec::new();
    for (key, resource) in keyed(to) {
        resources.push(match before.remove(&key) {
            Some(earlier) => changed(earlier, resource),
            None => whole(resource, ResourceIntent::Create),
        });
    }
    let gone = before.into_values();
    resources.extend(gone.map(|resource| whole(resource, ResourceIntent::Delete)));
    resources
}

/// Resources of different templates may have the same name. Their objects, and then their order, distinguish them.
type Key = (String, ObjectRef, usize);

fn keyed(resources: &[Resource]) -> impl Iterator<Item = (Key, &Resource)> {
    let mut seen: BTreeMap<(String, ObjectRef), usize> = BTreeMap::new();
    resources.iter().map(move |resource| {
        let named = (resource.name.to_string(), object(resource));
        let count = seen.entry(named.clone()).or_default();
        *count += 1;
        ((named.0, named.1, *count), resource)
    })
}

/// The object, as far as the configuration names it.
fn object(resource: &Resource) -> ObjectRef {
    let properties = resource.properties.as_ref().unwrap_or(&Value::Null);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let kind = resource.type_name.as_str();
    let kind = kind.rsplit(['/', ':']).next().unwrap_or(kind);
    ObjectRef {
        api_version: text(&properties["apiVersion"]).unwrap_or_default(),
        kind: text(&properties["kind"]).unwrap_or_else(|| kind.to_owned()),
        namespace: text(&properties["metadata"]["namespace"]),
        name: text(&properties["metadata"]["name"]).unwrap_or_else(|| resource.name.to_string()),
    }
}

fn whole(resource: &Resource, intent: ResourceIntent) -> ResourceDiff {
    ResourceDiff {
        name: resource.name.clone(),
        type_name: resource.type_name.clone(),
        intent,
        basis: Basis {
            object: object(resource),
            uid: None,
            owned: None,
        },
        changes: Vec::new(),
        unknown: Vec::new(),
        missing_permissions: Vec::new(),
        error: None,
    }
}

fn changed(before: &Resource, after: &Resource) -> ResourceDiff {
    let mut changes = Vec::new();
    let side = |resource: &Resource| resource.properties.clone();
    fields(
        "",
        side(before).as_ref(),
        side(after).as_ref(),
        &mut changes,
    );
    let metadata = |resource: &Resource| resource.metadata.clone();
    fields(
        "(Deployment Manager's) metadata",
        metadata(before).as_ref(),
        metadata(after).as_ref(),
        &mut changes,
    );
    if object(after).kind == "Secret" {
        changes.iter_mut().for_each(hide);
    }
    let intent = match changes.is_empty() {
        true => ResourceIntent::None,
        false => ResourceIntent::Update,
    };
    ResourceDiff {
        changes,
        ..whole(after, intent)
    }
}

/// A Secret's values are never shown.
fn hide(change: &mut FieldChange) {
    if change.path.starts_with("data") || change.path.starts_with("stringData") {
        (change.before, change.after) = (None, None);
    }
}

/// The fields that differ, as deep as both values have the same shape. The YAML reader limits the depth.
fn fields(
    path: &str,
    before: Option<&Value>,
    after: Option<&Value>,
    changes: &mut Vec<FieldChange>,
) {
    match (before, after) {
        (before, after) if before == after => {}
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            maps(path, before, after, changes);
        }
        (Some(Value::Array(before)), Some(Value::Array(after))) => {
            for index in 0..before.len().max(after.len()) {
                let path = format!("{path}[{index}]");
                fields(&path, before.get(index), after.get(index), changes);
            }
        }
        (before, after) => changes.push(FieldChange {
            path: path.to_owned(),
            before: before.cloned(),
            after: after.cloned(),
        }),
    }
}

fn maps(
    path: &str,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    changes: &mut Vec<FieldChange>,
) {
    for (key, value) in after {
        fields(&below(path, key), before.get(key), Some(value), changes);
    }
    for (key, value) in before.iter().filter(|(key, _)| !after.contains_key(*key)) {
        fields(&below(path, key), Some(value), None, changes);
    }
}

/// As in references: a key that is not an identifier is written in brackets.
fn below(path: &str, key: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    match (path, !key.is_empty() && key.bytes().all(is_plain)) {
        ("", true) => key.to_owned(),
        (path, true) => format!("{path}.{key}"),
        (path, false) => format!("{path}['{key}']"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::DiffSummary;
    use serde_json::json;

    fn between(before: Value, after: Value) -> Vec<ResourceDiff> {
        let read = |list| serde_json::from_value::<Vec<Resource>>(list).unwrap();
        resources(&read(before), &read(after))
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
        let found: Vec<_> = between(before, after)
            .iter()
            .map(|diff| {
                let paths: Vec<_> = diff
                    .changes
                    .iter()
                    .map(|change| change.path.as_str())
                    .collect();
                format!("{:?} {} {}", diff.intent, diff.name, paths.join(" "))
            })
            .collect();
        let expected = [
            "Update web spec.replicas spec.list[2] spec.paused metadata",
            "None same ",
            "Create new ",
            "Delete old ",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn values_of_secrets_are_not_told() {
        let secret = |password: &str| json!([{"name": "s", "type": "Secret", "properties": {"stringData": {"password": password}}}]);
        let found = serde_json::to_string(&between(secret("hush"), secret("quiet"))).unwrap();
        assert!(found.contains("stringData.password"), "{found}");
        assert!(
            !found.contains("hush") && !found.contains("quiet"),
            "{found}"
        );
    }

    #[test]
    fn resources_of_one_name_are_told_apart() {
        let pod = |namespace: &str, image: &str| json!({"name": "a", "type": "Pod", "properties": {"metadata": {"namespace": namespace}, "image": image}});
        let compared = between(
            json!([pod("x", "1"), pod("y", "1")]),
            json!([pod("y", "1"), pod("x", "2")]),
        );
        let summary = DiffSummary::summarize(&compared);
        assert_eq!((summary.update, summary.unchanged), (1, 1));
    }
}
