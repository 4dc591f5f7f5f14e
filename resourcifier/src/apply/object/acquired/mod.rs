//! What a deployment has taken from an object that was there before it, and how the object gets it back.
//!
//! It is remembered on the object itself, in an annotation of ours: the write that takes the fields also writes the annotation, so
//! no crash comes between the two, and a later rollback finds it. For each field it has the former value, or that there was none, and the field managers that owned it. The form is that of `FieldsV1` with a list at each leaf: `[value]` or `[]`.
//! `.` says that the map or list item itself was not there.
//!
//! Pure.

use std::borrow::Cow;

use common::model::DeploymentName;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::notation::Item;
use crate::plan;

/// All annotations of an object have 256 KiB. What is larger is not kept, only that the object was there before.
const BYTES: usize = 128 * 1024;
const ITSELF: &str = ".";

/// What was taken from an object.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Taken {
    /// The former values; absent where they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fields: Option<Value>,
    /// The parts of `managedFields` entries that were taken over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    owners: Vec<Value>,
}

impl Taken {
    /// What the object says was taken from it; `None` if the deployment made it.
    pub fn read(live: &Value) -> Option<Self> {
        let text = annotation(live)?.as_str()?;
        // Somebody else may have written into it: that the object was there before still counts.
        Some(serde_json::from_str(text).unwrap_or_default())
    }

    /// Nothing yet.
    pub fn nothing() -> Self {
        Self {
            fields: Some(json!({})),
            owners: Vec::new(),
        }
    }

    /// With what an apply takes more. `after` is what the API server says that it comes to.
    pub fn and(mut self, live: &Value, after: &Value, manager: &str) -> Self {
        let Some(fields) = self.fields.take() else {
            return self;
        };
        let new = without(&applied_by(after, manager), &applied_by(live, manager));
        let more = Some(&new).filter(|new| new.as_object().is_some_and(|new| !new.is_empty()));
        let Some(more) = more.and_then(|new| former(new, Some(live), Some(after))) else {
            self.fields = Some(fields);
            return self;
        };
        let others = entries(live).filter(|entry| entry["manager"] != manager);
        let owners = others.filter_map(|entry| {
            let fields = common_part(&entry["fieldsV1"], &more)?;
            let mut part = entry.clone();
            part["fieldsV1"] = fields;
            part.as_object_mut()?.remove("time");
            Some(part)
        });
        self.owners.extend(owners);
        self.fields = Some(union(fields, more));
        self
    }

    /// The object that is asked for, with the annotation.
    pub fn write_on(&self, mut object: Value) -> Value {
        let text = json!(self).to_string();
        let text = match text.len() <= BYTES {
            true => text,
            false => json!(Self::default()).to_string(),
        };
        object["metadata"]["annotations"][plan::ACQUIRED] = json!(text);
        object
    }

    pub fn is_known(&self) -> bool {
        self.fields.is_some()
    }

    /// The object with its former values: of each field that still is the deployment's, or that nobody has any more.
    pub fn given_back(&self, live: &Value, deployment: &DeploymentName) -> Value {
        let mut object = live.clone();
        if let Some(fields) = &self.fields {
            let ours = applied_by(live, &plan::field_manager(deployment));
            give_back(fields, Some(&ours), &mut object);
        }
        object
    }

    /// The entries of `managedFields` with the fields that go back to their former managers.
    pub fn returned_to_owners(&self, mut entries: Vec<Value>) -> Vec<Value> {
        for owner in &self.owners {
            let is_same = |entry: &&mut Value| {
                ["manager", "operation", "apiVersion", "subresource"]
                    .iter()
                    .all(|field| entry.get(field) == owner.get(field))
            };
            match entries.iter_mut().find(is_same) {
                Some(entry) => {
                    let fields = entry["fieldsV1"].take();
                    entry["fieldsV1"] = union(fields, owner["fieldsV1"].clone());
                }
                None => entries.push(owner.clone()),
            }
        }
        entries
    }
}

/// The object that is asked for, with what its live one says was taken from it: else an apply would remove that.
pub fn carried<'o>(object: &'o Value, live: Option<&Value>) -> Cow<'o, Value> {
    match live.and_then(annotation) {
        None => Cow::Borrowed(object),
        Some(text) => {
            let mut object = object.clone();
            object["metadata"]["annotations"][plan::ACQUIRED] = text.clone();
            Cow::Owned(object)
        }
    }
}

fn annotation(live: &Value) -> Option<&Value> {
    live["metadata"]["annotations"].get(plan::ACQUIRED)
}

fn entries(live: &Value) -> impl Iterator<Item = &Value> {
    let entries = live["metadata"]["managedFields"].as_array();
    entries.into_iter().flatten()
}

/// The tree of fields that a manager has applied.
fn applied_by(live: &Value, manager: &str) -> Value {
    let ours = |entry: &&Value| entry["manager"] == manager && entry["operation"] == "Apply";
    let trees = entries(live).filter(ours);
    trees.fold(json!({}), |tree, entry| {
        union(tree, entry["fieldsV1"].clone())
    })
}

/// The former values of the fields of a tree that are different afterwards.
fn former(tree: &Value, before: Option<&Value>, after: Option<&Value>) -> Option<Value> {
    let Some(children) = tree.as_object().filter(|children| !children.is_empty()) else {
        let value = || before.map_or_else(|| json!([]), |value| json!([value]));
        return (before != after).then(value);
    };
    let own = format!("f:{}", plan::PREFIX);
    let mut found = Map::new();
    for (key, child) in children {
        if key == ITSELF || key.starts_with(&own) {
            continue;
        }
        let (before, after) = (before.and_then(at(key)), after.and_then(at(key)));
        if let Some(child) = former(child, before, after) {
            found.insert(key.clone(), child);
        }
    }
    if before.is_none() {
        found.insert(ITSELF.to_owned(), json!([]));
    }
    (!found.is_empty()).then_some(Value::Object(found))
}

/// The part of a value that a key of a tree means.
fn at(key: &str) -> impl Fn(&Value) -> Option<&Value> {
    move |value| match key.strip_prefix("f:") {
        Some(field) => value.get(field),
        None => value.as_array()?.get(place(key, value)?),
    }
}

/// Where a list has the item.
fn place(key: &str, list: &Value) -> Option<usize> {
    let item = Item::managed(key)?;
    let mut items = list.as_array()?.iter().enumerate();
    items
        .find(|(index, value)| item.is(*index, value))
        .map(|(index, _)| index)
}

/// Puts former values back, from a tree of them; `ours` is the tree of what the deployment owns now.
fn give_back(former: &Value, ours: Option<&Value>, live: &mut Value) {
    for (key, child) in former.as_object().into_iter().flatten() {
        let ours = ours.and_then(|ours| ours.get(key));
        let is_there = at(key)(live).is_some();
        match child.as_array() {
            _ if key == ITSELF => {}
            Some(value) if ours.is_some() || !is_there => set(live, key, value.first()),
            Some(_) => {}
            None => give_back_within(key, child, ours, live),
        }
    }
}

fn give_back_within(key: &str, former: &Value, ours: Option<&Value>, live: &mut Value) {
    let was_absent = former.get(ITSELF).is_some();
    // Without its fields a list item could not be found any more.
    if was_absent && ours.is_some() && !key.starts_with("f:") {
        return set(live, key, None);
    }
    if at(key)(live).is_none() {
        match key.strip_prefix("f:") {
            // It was there, and all of it was taken out.
            Some(_) if !was_absent => set(live, key, Some(&json!({}))),
            _ => return,
        }
    }
    if let Some(value) = at_mut(key, live) {
        give_back(former, ours, value);
    }
    let is_empty = at(key)(live).is_some_and(|value| {
        value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
    });
    if was_absent && is_empty {
        set(live, key, None);
    }
}

fn at_mut<'v>(key: &str, value: &'v mut Value) -> Option<&'v mut Value> {
    match key.strip_prefix("f:") {
        Some(field) => value.get_mut(field),
        None => {
            let place = place(key, value)?;
            value.get_mut(place)
        }
    }
}

/// Sets the part of a value that a key means, or takes it out.
fn set(value: &mut Value, key: &str, to: Option<&Value>) {
    let place = place(key, value);
    match (key.strip_prefix("f:"), value) {
        (Some(field), Value::Object(map)) => match to {
            Some(to) => drop(map.insert(field.to_owned(), to.clone())),
            None => drop(map.shift_remove(field)),
        },
        (None, Value::Array(items)) => match (place, to) {
            (Some(place), Some(to)) => items[place] = to.clone(),
            (Some(place), None) => drop(items.remove(place)),
            (None, Some(to)) => items.push(to.clone()),
            (None, None) => {}
        },
        _ => {}
    }
}

/// Both trees; where both have a leaf, the second's.
fn union(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Object(mut one), Value::Object(other)) => {
            for (key, child) in other {
                let child = match one.shift_remove(&key) {
                    Some(known) => union(known, child),
                    None => child,
                };
                one.insert(key, child);
            }
            Value::Object(one)
        }
        (_, other) => other,
    }
}

/// The leaves of a tree that another one does not have.
fn without(tree: &Value, other: &Value) -> Value {
    let mut left = Map::new();
    for (key, child) in tree.as_object().into_iter().flatten() {
        let is_leaf = child.as_object().is_none_or(Map::is_empty);
        match other.get(key) {
            None => drop(left.insert(key.clone(), child.clone())),
            Some(known) if !is_leaf => {
                let child = without(child, known);
                if child.as_object().is_some_and(|child| !child.is_empty()) {
                    left.insert(key.clone(), child);
                }
            }
            Some(_) => {}
        }
    }
    Value::Object(left)
}

/// The leaves of a tree that are also in a tree of former values.
fn common_part(tree: &Value, former: &Value) -> Option<Value> {
    let mut found = Map::new();
    for (key, child) in tree.as_object()? {
        let Some(former) = former.get(key).filter(|_| key != ITSELF) else {
            continue;
        };
        let part = match former.is_array() {
            true => Some(child.clone()),
            false => common_part(child, former),
        };
        found.extend(part.map(|part| (key.clone(), part)));
    }
    (!found.is_empty()).then_some(Value::Object(found))
}

/// The merge patch (RFC 7386) that makes one object the other; `None` if there is nothing to change.
pub fn merge_patch(before: &Value, after: &Value) -> Option<Value> {
    let (Some(old), Some(new)) = (before.as_object(), after.as_object()) else {
        return (before != after).then(|| after.clone());
    };
    let mut patch = Map::new();
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    for (key, value) in new {
        let change = match old.get(key) {
            Some(old) => merge_patch(old, value),
            None => Some(value.clone()),
        };
        patch.extend(change.map(|change| (key.clone(), change)));
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

#[cfg(test)]
mod tests;
