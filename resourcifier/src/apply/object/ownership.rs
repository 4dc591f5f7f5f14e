//! Who owns which field of a live object, read from its `managedFields`.
//!
//! An entry is a tree of fields: `f:` a key of a map, `k:` an item of a list by its keys, `v:` one by its value, `.` the
//! thing itself. A leaf is owned with all that is in it.

use common::canonical;
use common::model::{DeploymentName, ObjectRef};
use serde_json::{Map, Value, json};

use super::notation::Item;
use crate::plan::{self, Path};
use common::api::deployer::Basis;

use super::change;

/// Trees are as deep as objects.
const DEPTH: usize = 64;

/// A field that somebody owns.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub path: Path,
    /// Stays the same when a list is put into another order.
    name: String,
    /// Absent, if only that it is there is owned, or if it is not there.
    value: Option<Value>,
}

/// How an object is, as far as it is the deployment's.
pub fn basis(object: &ObjectRef, live: Option<&Value>, deployment: &DeploymentName) -> Basis {
    Basis {
        object: object.clone(),
        uid: live.and_then(change::uid).map(str::to_owned),
        owned: live.and_then(|live| digest(&applied_by(live, &plan::field_manager(deployment)))),
    }
}

/// The fields that a manager owns by having applied them.
pub fn applied_by(live: &Value, manager: &str) -> Vec<Field> {
    let mut found = Vec::new();
    let ours = |entry: &&Value| entry["manager"] == manager && entry["operation"] == "Apply";
    for entry in entries(live).filter(ours) {
        collect(
            &entry["fieldsV1"],
            Some(live),
            Path::default(),
            "",
            &mut found,
        );
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// The other managers, each with what it owns; the status is its controller's own affair.
pub fn others<'a>(live: &'a Value, manager: &str) -> Vec<(&'a str, Vec<Field>)> {
    let foreign = entries(live)
        .filter(|entry| entry["manager"] != manager && entry["subresource"] != "status");
    foreign
        .map(|entry| {
            let mut found = Vec::new();
            collect(
                &entry["fieldsV1"],
                Some(live),
                Path::default(),
                "",
                &mut found,
            );
            (entry["manager"].as_str().unwrap_or("somebody"), found)
        })
        .collect()
}

fn entries(live: &Value) -> impl Iterator<Item = &Value> {
    live["metadata"]["managedFields"]
        .as_array()
        .into_iter()
        .flatten()
}

/// `None` if nothing is owned.
fn digest(fields: &[Field]) -> Option<String> {
    let entries = fields.iter().map(|field| {
        (
            field.name.clone(),
            field.value.clone().unwrap_or(json!(true)),
        )
    });
    let owned: Map<String, Value> = entries.collect();
    (!owned.is_empty()).then(|| canonical::digest(&Value::Object(owned)).to_string())
}

fn collect(tree: &Value, live: Option<&Value>, path: Path, name: &str, found: &mut Vec<Field>) {
    let children = tree.as_object();
    let Some(children) = children.filter(|children| !children.is_empty()) else {
        found.push(Field {
            path,
            name: name.to_owned(),
            value: live.cloned(),
        });
        return;
    };
    if name.split('/').count() > DEPTH {
        return;
    }
    for (key, child) in children {
        let name = format!("{name}/{key}");
        if key == "." {
            found.push(Field {
                path: path.clone(),
                name,
                value: None,
            });
            continue;
        }
        let (live, path) = descend(key, live, &path);
        collect(child, live, path, &name, found);
    }
}

/// The part of the object that a key of the tree means. What is not there has the place of what would hold it.
fn descend<'v>(key: &str, live: Option<&'v Value>, path: &Path) -> (Option<&'v Value>, Path) {
    if let Some(field) = key.strip_prefix("f:") {
        return (live.and_then(|live| live.get(field)), path.key(field));
    }
    let items = live.and_then(Value::as_array);
    let found = Item::managed(key).zip(items).and_then(|(item, items)| {
        let mut places = items.iter().enumerate();
        places.find(|(index, value)| item.is(*index, value))
    });
    match found {
        Some((index, value)) => (Some(value), path.index(index)),
        None => (None, path.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(replicas: u64, items: Value) -> Value {
        let tree = json!({
            "f:metadata": {"f:labels": {"f:a.b/c": {}}},
            "f:spec": {"f:replicas": {}, "f:containers": {"k:{\"name\":\"app\"}": {".": {}, "f:image": {}}}},
        });
        let theirs = json!({"f:metadata": {"f:annotations": {"f:x": {}}}});
        json!({
            "metadata": {
                "uid": "u", "labels": {"a.b/c": "v"}, "annotations": {"x": "y"},
                "managedFields": [
                    {"manager": "dm-web", "operation": "Apply", "fieldsV1": tree},
                    {"manager": "kubectl-edit", "operation": "Update", "fieldsV1": theirs},
                ],
            },
            "spec": {"replicas": replicas, "containers": items},
        })
    }

    fn owned(live: &Value) -> String {
        digest(&applied_by(live, "dm-web")).unwrap()
    }

    #[test]
    fn owned_fields_are_known_with_their_places() {
        let live = live(1, json!([{"name": "side"}, {"name": "app", "image": "i"}]));
        let fields = applied_by(&live, "dm-web");
        let places: Vec<String> = fields.iter().map(|field| field.path.to_string()).collect();
        assert_eq!(
            places,
            [
                "metadata.labels['a.b/c']",
                "spec.containers[1]",
                "spec.containers[1].image",
                "spec.replicas"
            ]
        );
        assert_eq!(others(&live, "dm-web")[0].0, "kubectl-edit");
    }

    #[test]
    fn the_digest_changes_with_owned_values_alone() {
        let app = || json!({"name": "app", "image": "i"});
        let before = live(1, json!([app()]));
        let mut others = live(1, json!([{"name": "side"}, app()]));
        others["metadata"]["annotations"]["x"] = json!("z");
        others["metadata"]["resourceVersion"] = json!("9");
        assert_eq!(owned(&before), owned(&others));
        assert_ne!(owned(&before), owned(&live(2, json!([app()]))));
        assert_eq!(digest(&applied_by(&before, "dm-other")), None);
    }
}
