//! Two states of one object, field by field.
//!
//! The identity of the object, and fields that the API server sets (versions, times, managers, the status), do not
//! count as differences. Items of lists are matched by their names if all have one, otherwise by their indices.

use std::collections::HashMap;

use common::api::deployer::FieldChange;
use serde_json::{Map, Value};

use super::shown;
use crate::plan::Path;

/// How many differences of one object are reported.
const REPORTED: usize = 500;
/// Which object it is, and what its controller says of it.
const NOT_ASKED: &[&str] = &["apiVersion", "kind", "status"];
/// Fields of the metadata that the API server writes, or that say which object it is.
const ITS_OWN: &[&str] = &[
    "name",
    "namespace",
    "managedFields",
    "resourceVersion",
    "generation",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
];

/// A field that differs, with the values as they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    pub path: Path,
    pub before: Option<Value>,
    pub after: Option<Value>,
}

/// Every field that differs, in the order of the object afterwards.
pub fn differences(before: Option<&Value>, after: Option<&Value>) -> Vec<Difference> {
    let (before, after) = (before.map(essential), after.map(essential));
    let mut found = Vec::new();
    compare(before.as_ref(), after.as_ref(), Path::default(), &mut found);
    found
}

/// The differences for a report: at most [`REPORTED`], and a value of a Secret only as changed.
pub fn field_changes(differences: Vec<Difference>, object: &Value) -> Vec<FieldChange> {
    let more = differences.len().saturating_sub(REPORTED);
    let change = |difference: Difference| {
        let Difference {
            path,
            before,
            after,
        } = difference;
        let (before, after) = shown::both(before, after, &path, object);
        FieldChange {
            path: path.to_string(),
            before,
            after,
        }
    };
    let mut printed: Vec<FieldChange> =
        differences.into_iter().take(REPORTED).map(change).collect();
    printed.extend((more > 0).then(|| FieldChange {
        path: format!("… and {more} more fields"),
        before: None,
        after: None,
    }));
    printed
}

/// The object merged with the desired one: the result of a change, as far as it is known without the API server.
pub fn overlaid(live: &Value, asked: &Value) -> Value {
    match (live, asked) {
        (Value::Object(old), Value::Object(new)) => {
            let mut whole = old.clone();
            for (key, value) in new {
                let over = old
                    .get(key)
                    .map_or_else(|| value.clone(), |old| overlaid(old, value));
                whole.insert(key.clone(), over);
            }
            Value::Object(whole)
        }
        (Value::Array(old), Value::Array(new)) => {
            let names = by_name(old).zip(by_name(new));
            let partner = |item: &Value| {
                let (old_names, _) = names.as_ref()?;
                old_names.get(item["name"].as_str()?).map(|&at| &old[at])
            };
            let over = |item: &Value| {
                partner(item).map_or_else(|| item.clone(), |old| overlaid(old, item))
            };
            new.iter().map(over).collect()
        }
        _ => asked.clone(),
    }
}

fn essential(object: &Value) -> Value {
    let Value::Object(map) = object else {
        return object.clone();
    };
    let kept = map
        .iter()
        .filter(|(key, _)| !NOT_ASKED.contains(&key.as_str()));
    let kept = kept.map(|(key, value)| match (key.as_str(), value) {
        ("metadata", Value::Object(metadata)) => (key.clone(), Value::Object(named(metadata))),
        _ => (key.clone(), value.clone()),
    });
    Value::Object(kept.collect())
}

fn named(metadata: &Map<String, Value>) -> Map<String, Value> {
    let kept = metadata
        .iter()
        .filter(|(key, _)| !ITS_OWN.contains(&key.as_str()));
    kept.map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn compare(before: Option<&Value>, after: Option<&Value>, path: Path, found: &mut Vec<Difference>) {
    let (before, after) = (present(before), present(after));
    if before == after {
        return;
    }
    match (before, after) {
        (Some(Value::Object(_)) | None, Some(Value::Object(_)) | None)
            if !is_empty(before) || !is_empty(after) =>
        {
            maps(map(before), map(after), &path, found);
        }
        (Some(Value::Array(_)) | None, Some(Value::Array(_)) | None)
            if !is_empty(before) || !is_empty(after) =>
        {
            lists(items(before), items(after), &path, found);
        }
        _ => found.push(Difference {
            path,
            before: before.cloned(),
            after: after.cloned(),
        }),
    }
}

/// A null is nothing.
fn present(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null())
}

/// Whether there is nothing in it to descend into.
fn is_empty(value: Option<&Value>) -> bool {
    match value {
        Some(Value::Object(map)) => map.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        _ => true,
    }
}

fn map(value: Option<&Value>) -> Option<&Map<String, Value>> {
    value.and_then(Value::as_object)
}

fn items(value: Option<&Value>) -> &[Value] {
    value
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

fn maps(
    before: Option<&Map<String, Value>>,
    after: Option<&Map<String, Value>>,
    path: &Path,
    found: &mut Vec<Difference>,
) {
    let of =
        |map: Option<&Map<String, Value>>, key: &str| map.and_then(|map| map.get(key)).cloned();
    let old = before.into_iter().flatten();
    let new = after.into_iter().flatten();
    let gone = old.filter(|(key, _)| after.is_none_or(|after| !after.contains_key(*key)));
    for (key, _) in new.chain(gone) {
        compare(
            of(before, key).as_ref(),
            of(after, key).as_ref(),
            path.key(key),
            found,
        );
    }
}

fn lists(before: &[Value], after: &[Value], path: &Path, found: &mut Vec<Difference>) {
    let (Some(old), Some(_)) = (by_name(before), by_name(after)) else {
        for index in 0..before.len().max(after.len()) {
            compare(
                before.get(index),
                after.get(index),
                path.index(index),
                found,
            );
        }
        return;
    };
    let name = |item: &Value| item["name"].as_str().unwrap_or_default().to_owned();
    for (index, item) in after.iter().enumerate() {
        let partner = old.get(name(item).as_str()).map(|&at| &before[at]);
        compare(partner, Some(item), path.index(index), found);
    }
    for (index, item) in before.iter().enumerate() {
        if !after.iter().any(|other| name(other) == name(item)) {
            compare(Some(item), None, path.index(index), found);
        }
    }
}

/// The items by their names, if each has one of its own.
fn by_name(items: &[Value]) -> Option<HashMap<&str, usize>> {
    let mut names = HashMap::new();
    for (index, item) in items.iter().enumerate() {
        if names.insert(item.get("name")?.as_str()?, index).is_some() {
            return None;
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(before: Value, after: Value) -> Vec<String> {
        let kind = after.clone();
        let present = |value: Value| (!value.is_null()).then_some(value);
        let (before, after) = (present(before), present(after));
        let changes = field_changes(differences(before.as_ref(), after.as_ref()), &kind);
        let text = |value: Option<Value>| value.map_or("–".to_owned(), |value| value.to_string());
        changes
            .into_iter()
            .map(|change| {
                format!(
                    "{}: {} → {}",
                    change.path,
                    text(change.before),
                    text(change.after)
                )
            })
            .collect()
    }

    #[test]
    fn what_the_api_server_writes_is_no_difference() {
        let before = json!({"metadata": {"name": "a", "uid": "u", "resourceVersion": "1", "managedFields": [1]}, "spec": 1, "status": 1});
        let after = json!({"metadata": {"name": "a", "resourceVersion": "2", "generation": 2}, "spec": 1, "status": 2, "x": null});
        assert!(said(before, after).is_empty());
    }

    #[test]
    fn each_field_is_told_with_its_place() {
        let before = json!({"metadata": {"labels": {"a.b/c": "x"}}, "spec": {"n": 1, "gone": {"deep": [true]}}});
        let after =
            json!({"metadata": {"labels": {"a.b/c": "y"}}, "spec": {"n": 1, "new": {"empty": {}}}});
        assert_eq!(
            said(before, after),
            [
                r#"metadata.labels['a.b/c']: "x" → "y""#,
                "spec.new.empty: – → {}",
                "spec.gone.deep[0]: true → –",
            ]
        );
    }

    #[test]
    fn items_are_told_apart_by_name_where_all_have_one() {
        let before = json!([{"name": "a", "v": 1}, {"name": "b", "v": 1}]);
        let after = json!([{"name": "b", "v": 2}, {"name": "a", "v": 1}]);
        assert_eq!(said(before, after), ["[0].v: 1 → 2"]);
        assert_eq!(
            said(json!([1, 2]), json!([2])),
            ["[0]: 1 → 2", "[1]: 2 → –"]
        );
    }

    #[test]
    fn values_of_secrets_are_not_told_but_that_they_change_is() {
        let secret =
            |value: &str| json!({"kind": "Secret", "data": {"k": value}, "type": "Opaque"});
        assert_eq!(
            said(secret("a"), secret("b")),
            [r#"data.k: "(redacted)" → "(redacted)""#]
        );
        assert!(said(secret("a"), secret("a")).is_empty());
    }

    #[test]
    fn a_long_text_is_told_by_its_beginning_and_length_and_nothing_to_guess_the_rest_from() {
        let text = |end: &str| json!({"data": "x".repeat(5_000) + end});
        let printed = |before: &str, after: &str| said(text(before), text(after)).remove(0);
        let longer = printed("", "y");
        assert!(
            longer.len() < 3_000
                && longer.contains("… (5000 bytes)")
                && longer.contains("… (5001 bytes)"),
            "{longer}"
        );
        assert!(printed("a", "b").ends_with("… (5001 bytes, different further on)\""));
        assert_eq!(printed("a", "b"), printed("c", "d"));
    }
}
