//! Whether applying an object would change nothing, from the live object alone.
//!
//! It would not, where our field manager owns exactly the fields that we would apply, and they have these values.
//! Lists are compared as their owned fields say: as one value, by keys, or as a set. When in doubt, the answer is no:
//! applying once more changes nothing either, it only takes longer.
//!
//! Pure. The form of the fields is that of `FieldsV1` in Kubernetes' `metadata.managedFields`.

use serde_json::{Map, Value};

/// Whether applying `desired` over `live` in the name of `manager` would change nothing.
pub fn is_unchanged(desired: &Value, live: &Value, manager: &str) -> bool {
    let Some(fields) = fields_of(live, manager, &desired["apiVersion"]) else {
        return false;
    };
    let Some(desired) = desired.as_object() else {
        return false;
    };
    let is_same = |(key, value): (&String, &Value)| match key.as_str() {
        // Who it is, and no field that anybody owns.
        "apiVersion" | "kind" => *value == live[key],
        "metadata" => is_same_metadata(value, fields.get("f:metadata"), &live[key]),
        key => fields
            .get(&format!("f:{key}"))
            .is_some_and(|owned| is_same(value, owned, &live[key])),
    };
    let owned = fields.keys().filter(|key| *key != "f:metadata").count();
    let applied = desired
        .keys()
        .filter(|key| !matches!(key.as_str(), "apiVersion" | "kind" | "metadata"))
        .count();
    owned == applied && desired.iter().all(is_same)
}

/// What the manager owns by server-side apply: one entry, or the case is not a plain one.
fn fields_of<'l>(
    live: &'l Value,
    manager: &str,
    version: &Value,
) -> Option<&'l Map<String, Value>> {
    let entries = live["metadata"]["managedFields"].as_array()?;
    let mut ours = entries.iter().filter(|entry| entry["manager"] == manager);
    let entry = ours.next().filter(|_| ours.next().is_none())?;
    let is_plain = entry["operation"] == "Apply"
        && entry["apiVersion"] == *version
        && entry.get("subresource").is_none()
        && entry["fieldsType"] == "FieldsV1";
    entry["fieldsV1"].as_object().filter(|_| is_plain)
}

fn is_same_metadata(desired: &Value, owned: Option<&Value>, live: &Value) -> bool {
    let (Some(desired), Some(owned)) = (desired.as_object(), owned.and_then(Value::as_object))
    else {
        return false;
    };
    let mut fields = 0;
    let is_same = desired.iter().all(|(key, value)| match key.as_str() {
        "name" | "namespace" => *value == live[key],
        key => {
            fields += 1;
            owned
                .get(&format!("f:{key}"))
                .is_some_and(|owned| is_same(value, owned, &live[key]))
        }
    });
    is_same && owned.keys().filter(|key| *key != ".").count() == fields
}

fn is_same(desired: &Value, owned: &Value, live: &Value) -> bool {
    let Some(owned) = owned.as_object() else {
        return false;
    };
    let children = owned.keys().filter(|key| *key != ".").count();
    match desired {
        // Applying null means something else than owning it.
        Value::Null => false,
        _ if children == 0 => desired == live && !has_null(desired),
        Value::Object(desired) => {
            desired.len() == children
                && desired.iter().all(|(key, value)| {
                    owned
                        .get(&format!("f:{key}"))
                        .is_some_and(|owned| is_same(value, owned, &live[key]))
                })
        }
        Value::Array(desired) => {
            let Some(live) = live.as_array() else {
                return false;
            };
            desired.len() == children && are_same(desired, owned, live)
        }
        _ => false,
    }
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.values().any(has_null),
        Value::Array(items) => items.iter().any(has_null),
        _ => false,
    }
}

/// The items of a list by keys (`k:{…}`) or of a set (`v:…`): each has its owned entry and its live item, in the same order.
fn are_same(desired: &[Value], owned: &Map<String, Value>, live: &[Value]) -> bool {
    let mut last = None;
    let mut used = Vec::with_capacity(desired.len());
    desired.iter().all(|item| {
        let Some((entry, place, fields)) = matching(item, owned, live) else {
            return false;
        };
        let is_new = !used.contains(&entry);
        used.push(entry);
        let is_in_order = last.replace(place).is_none_or(|last| last < place);
        let is_equal = match fields {
            Some(fields) => is_same(item, fields, &live[place]),
            None => *item == live[place],
        };
        is_new && is_in_order && is_equal
    })
}

/// The only entry for an item, the place of the only live item that it means, and the owned fields in it.
fn matching<'o>(
    item: &Value,
    owned: &'o Map<String, Value>,
    live: &[Value],
) -> Option<(usize, usize, Option<&'o Value>)> {
    let mut found = None;
    for (entry, (key, fields)) in owned.iter().enumerate() {
        let is_of = |other: &Value| match split(key) {
            Some(Entry::Keys(keys)) => keys
                .iter()
                .all(|(name, value)| other.get(name).is_none_or(|other| other == value)),
            Some(Entry::Member(value)) => *other == value,
            None => false,
        };
        if !is_of(item) {
            continue;
        }
        let mut places = (0..live.len()).filter(|&place| is_of(&live[place]));
        let place = places.next().filter(|_| places.next().is_none())?;
        let fields = key.starts_with("k:").then_some(fields);
        if found.replace((entry, place, fields)).is_some() {
            return None;
        }
    }
    found
}

enum Entry {
    Keys(Map<String, Value>),
    Member(Value),
}

fn split(key: &str) -> Option<Entry> {
    if let Some(keys) = key.strip_prefix("k:") {
        return serde_json::from_str(keys).ok().map(Entry::Keys);
    }
    let member = key.strip_prefix("v:")?;
    serde_json::from_str(member).ok().map(Entry::Member)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A live Deployment, as an API server gives it: defaulted, and with the fields of several managers.
    fn live() -> Value {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {
                "name": "web", "namespace": "home", "uid": "u", "labels": {"a": "1", "theirs": "x"},
                "managedFields": [
                    {"manager": "dm-web", "operation": "Apply", "apiVersion": "apps/v1", "fieldsType": "FieldsV1", "fieldsV1": {
                        "f:metadata": {"f:labels": {"f:a": {}}},
                        "f:spec": {
                            "f:replicas": {}, "f:selector": {},
                            "f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"main\"}": {
                                ".": {}, "f:name": {}, "f:image": {}, "f:args": {},
                                "f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}}},
                            }}}},
                        },
                    }},
                    {"manager": "kcm", "operation": "Update", "apiVersion": "apps/v1", "fieldsType": "FieldsV1", "subresource": "status", "fieldsV1": {"f:status": {}}},
                ],
            },
            "spec": {
                "replicas": 2, "selector": {"matchLabels": {"a": "1"}}, "revisionHistoryLimit": 10,
                "template": {"spec": {"containers": [
                    {"name": "sidecar", "image": "injected"},
                    {"name": "main", "image": "i", "args": ["a", "b"], "ports": [{"containerPort": 80, "protocol": "TCP"}], "imagePullPolicy": "Always"},
                ]}},
            },
            "status": {"replicas": 2},
        })
    }

    fn desired() -> Value {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "home", "labels": {"a": "1"}},
            "spec": {
                "replicas": 2, "selector": {"matchLabels": {"a": "1"}},
                "template": {"spec": {"containers": [{"name": "main", "image": "i", "args": ["a", "b"], "ports": [{"containerPort": 80}]}]}},
            },
        })
    }

    fn unchanged(desired: &Value, live: &Value) -> bool {
        is_unchanged(desired, live, "dm-web")
    }

    #[test]
    fn what_is_there_already_is_unchanged_whatever_others_add() {
        assert!(unchanged(&desired(), &live()));
    }

    #[test]
    fn every_difference_in_what_is_ours_is_found() {
        let changes: &[(&str, Value)] = &[
            ("/spec/replicas", json!(3)),
            ("/metadata/labels/a", json!("2")),
            ("/spec/template/spec/containers/0/image", json!("other")),
            ("/spec/template/spec/containers/0/args", json!(["b", "a"])),
            ("/spec/template/spec/containers/0/name", json!("sidecar")),
            (
                "/spec/template/spec/containers/0/ports/0/containerPort",
                json!(81),
            ),
            ("/spec/selector", json!({})),
            ("/spec/replicas", Value::Null),
            ("/apiVersion", json!("apps/v2")),
        ];
        for (path, value) in changes {
            let mut desired = desired();
            *desired.pointer_mut(path).unwrap() = value.clone();
            assert!(!unchanged(&desired, &live()), "{path} {value}");
        }
    }

    #[test]
    fn a_field_more_or_less_is_a_change() {
        let mut more = desired();
        more["spec"]["paused"] = json!(false);
        assert!(!unchanged(&more, &live()));
        let mut less = desired();
        less["spec"].as_object_mut().unwrap().remove("replicas");
        assert!(!unchanged(&less, &live()));
        let mut without_labels = desired();
        without_labels["metadata"]
            .as_object_mut()
            .unwrap()
            .remove("labels");
        assert!(!unchanged(&without_labels, &live()));
        let mut another_section = desired();
        another_section["data"] = json!({});
        assert!(!unchanged(&another_section, &live()));
    }

    #[test]
    fn a_value_that_somebody_changed_or_took_is_a_change() {
        let mut drifted = live();
        drifted["spec"]["replicas"] = json!(5);
        assert!(!unchanged(&desired(), &drifted));
        let mut taken = live();
        let owned = taken
            .pointer_mut("/metadata/managedFields/0/fieldsV1/f:spec")
            .unwrap();
        owned.as_object_mut().unwrap().remove("f:replicas");
        assert!(!unchanged(&desired(), &taken));
    }

    #[test]
    fn items_in_another_order_are_a_change() {
        let fields = json!({"f:x": {"k:{\"n\":1}": {".": {}, "f:n": {}}, "k:{\"n\":2}": {".": {}, "f:n": {}}}});
        let object = |items: Value| {
            json!({"apiVersion": "v1", "kind": "K", "metadata": {"managedFields": [
            {"manager": "dm-web", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields}]}, "x": items})
        };
        let wish = |items: Value| json!({"apiVersion": "v1", "kind": "K", "x": items});
        let live = object(json!([{"n": 1}, {"n": 2}]));
        assert!(unchanged(&wish(json!([{"n": 1}, {"n": 2}])), &live));
        assert!(!unchanged(&wish(json!([{"n": 2}, {"n": 1}])), &live));
        assert!(!unchanged(&wish(json!([{"n": 1}, {"n": 1}])), &live));
    }

    #[test]
    fn a_set_is_compared_by_its_members() {
        let fields = json!({"f:metadata": {"f:finalizers": {".": {}, "v:\"a\"": {}}}});
        let live = json!({"apiVersion": "v1", "kind": "K", "metadata": {"finalizers": ["theirs", "a"], "managedFields": [
            {"manager": "dm-web", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields}]}});
        let wish = |finalizers: Value| json!({"apiVersion": "v1", "kind": "K", "metadata": {"finalizers": finalizers}});
        assert!(unchanged(&wish(json!(["a"])), &live));
        assert!(!unchanged(&wish(json!(["b"])), &live));
        assert!(!unchanged(&wish(json!(["a", "theirs"])), &live));
    }

    #[test]
    fn what_another_manager_or_another_way_of_writing_owns_is_not_ours() {
        let mut updated = live();
        updated["metadata"]["managedFields"][0]["operation"] = json!("Update");
        assert!(!unchanged(&desired(), &updated));
        assert!(!is_unchanged(&desired(), &live(), "dm-other"));
        let mut unmanaged = live();
        unmanaged["metadata"]
            .as_object_mut()
            .unwrap()
            .remove("managedFields");
        assert!(!unchanged(&desired(), &unmanaged));
    }
}
