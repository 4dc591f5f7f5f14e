//! How a rendered object changes a live one: a merge patch, and the one that takes it back.
//!
//! ```text
//! bind:   live + rendered ─ merged ─┐
//! unbind: rendered ─────────────────┴─ compared with live ─► patch
//! ```

use serde_json::{Map, Value};

/// Fields of the API server. A template that prints a live object again prints them too.
const OF_SERVER: [&str; 7] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "uid",
];

/// How the labels and annotations of deployments begin.
const OURS: &str = "deployment-manager.dev/";

/// A change of a live object.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// What changes, as a JSON merge patch.
    pub patch: Value,
    /// The patch that takes it back.
    pub back: Value,
}

/// The change from a live object to what a template printed of it. Without `replaces`, what it does not print stays. None:
/// nothing changes.
///
/// # Errors
/// A map is to become something else, or the other way round.
pub fn edit(live: &Value, rendered: &Value, replaces: bool) -> Result<Option<Edit>, String> {
    let (before, mut after) = (essence(live), essence(rendered));
    if !replaces {
        after = merged(&before, &after, "")?;
    }
    let patch = difference(&before, &after);
    let back = difference(&after, &before);
    let changes = patch.as_object().is_some_and(|patch| !patch.is_empty());
    Ok(changes.then_some(Edit { patch, back }))
}

/// An object without its state and what the API server adds.
fn essence(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(map) = object.as_object_mut() {
        for key in ["status", "apiVersion", "kind"] {
            map.shift_remove(key);
        }
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        let own = ["name", "namespace"];
        for key in OF_SERVER.into_iter().chain(own) {
            metadata.shift_remove(key);
        }
    }
    object
}

/// An object that may be a live one printed again: without what the API server and deployments have added.
#[must_use]
pub fn printed_again(mut object: Value) -> Value {
    if object.pointer("/metadata/uid").is_none() {
        return object;
    }
    if let Some(map) = object.as_object_mut() {
        map.shift_remove("status");
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for key in OF_SERVER {
            metadata.shift_remove(key);
        }
        for key in ["labels", "annotations"] {
            let marks = metadata.get_mut(key).and_then(Value::as_object_mut);
            if let Some(marks) = marks {
                marks.retain(|key, _| !key.starts_with(OURS));
            }
        }
    }
    object
}

/// Maps key by key, lists item by item, neither with less than before. Everything else is replaced.
fn merged(before: &Value, after: &Value, path: &str) -> Result<Value, String> {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let mut all = before.clone();
            for (key, value) in after {
                let path = format!("{path}/{key}");
                let value = match before.get(key) {
                    Some(old) => merged(old, value, &path)?,
                    None => value.clone(),
                };
                all.insert(key.clone(), value);
            }
            Ok(Value::Object(all))
        }
        (Value::Array(before), Value::Array(after)) => {
            let mut all = before.clone();
            for (index, value) in after.iter().enumerate() {
                match before.get(index) {
                    Some(old) => all[index] = merged(old, value, &format!("{path}/{index}"))?,
                    None => all.push(value.clone()),
                }
            }
            Ok(Value::Array(all))
        }
        (Value::Object(_), Value::Null) | (Value::Null, _) => Ok(after.clone()),
        (Value::Object(_), _) | (_, Value::Object(_)) => Err(format!(
            "{path} is a map on one side only, so the two cannot be merged"
        )),
        _ => Ok(after.clone()),
    }
}

/// The merge patch from one value to another (RFC 7396).
fn difference(before: &Value, after: &Value) -> Value {
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        return after.clone();
    };
    let mut patch = Map::new();
    for (key, value) in after {
        match before.get(key) {
            Some(old) if old == value => {}
            Some(old @ Value::Object(_)) if value.is_object() => {
                let inner = difference(old, value);
                if inner.as_object().is_none_or(|inner| !inner.is_empty()) {
                    patch.insert(key.clone(), inner);
                }
            }
            _ => drop(patch.insert(key.clone(), value.clone())),
        }
    }
    let gone = before.keys().filter(|key| !after.contains_key(*key));
    patch.extend(gone.map(|key| (key.clone(), Value::Null)));
    Value::Object(patch)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn live() -> Value {
        json!({
            "apiVersion": "acid.zalan.do/v1", "kind": "postgresql",
            "metadata": {"name": "a", "namespace": "n", "resourceVersion": "7", "uid": "u", "labels": {"a": "b"}},
            "spec": {"users": {"main": ["superuser"]}, "teams": ["x", "y"], "size": 1},
            "status": {"phase": "Running"},
        })
    }

    #[test]
    fn a_bind_adds_and_keeps_what_it_does_not_print() {
        let rendered = json!({"spec": {"users": {"b1": ["superuser"]}, "teams": ["z"]}});
        let edit = edit(&live(), &rendered, false).unwrap().unwrap();
        let patch = json!({"spec": {"users": {"b1": ["superuser"]}, "teams": ["z", "y"]}});
        assert_eq!(edit.patch, patch);
        let back = json!({"spec": {"users": {"b1": null}, "teams": ["x", "y"]}});
        assert_eq!(edit.back, back);
    }

    #[test]
    fn an_unbind_removes_what_it_does_not_print() {
        let mut before = live();
        before["spec"]["users"]["b1"] = json!(["superuser"]);
        let edit = edit(&before, &live(), true).unwrap().unwrap();
        assert_eq!(edit.patch, json!({"spec": {"users": {"b1": null}}}));
    }

    #[test]
    fn what_is_printed_again_as_it_is_changes_nothing() {
        let mut printed = live();
        printed["status"] = json!({"phase": "Failed"});
        printed["metadata"]["resourceVersion"] = json!("1");
        assert_eq!(edit(&live(), &printed, true), Ok(None));
        assert_eq!(edit(&live(), &json!({}), false), Ok(None));
    }

    #[test]
    fn a_map_does_not_become_a_text() {
        let error = edit(&live(), &json!({"spec": {"users": "none"}}), false).unwrap_err();
        assert!(
            error.contains("/spec/users is a map on one side only"),
            "{error}"
        );
        assert!(edit(&live(), &json!({"spec": {"size": {}}}), false).is_err());
    }
}
