//! The owners of fields: server-side apply, as far as the tests need it.

use std::collections::{BTreeMap, BTreeSet};

use resourcifier::kubectl::{ApplyOptions, Cause};
use serde_json::{Map, Value, json};

/// The keys from the object's root to a value that is not a map.
pub type Path = Vec<String>;
/// The fields of each manager.
pub type Owned = BTreeMap<String, BTreeSet<Path>>;

/// Applies the object over the live one, or gives the conflicts and leaves it as it is.
pub fn apply(
    live: &mut Value,
    object: &Value,
    owned: &mut Owned,
    options: ApplyOptions<'_>,
) -> Vec<Cause> {
    let mut wanted = BTreeMap::new();
    leaves(object, &mut Vec::new(), &mut wanted);
    wanted.retain(|path, _| is_field(path));
    // An empty map asks only that there is a map.
    let is_map = |value: &Value| value.as_object().is_some_and(Map::is_empty);
    wanted.retain(|path, value| !is_map(value) || !at(live, path).is_some_and(Value::is_object));
    let conflicts = conflicts(live, &wanted, owned, options.manager);
    if !conflicts.is_empty() && !options.force {
        return conflicts;
    }
    let before = owned.remove(options.manager).unwrap_or_default();
    for path in before.iter().filter(|path| !wanted.contains_key(*path)) {
        if !owned.values().any(|fields| fields.contains(path)) {
            remove(live, path);
        }
    }
    for (path, value) in &wanted {
        if at(live, path) != Some(value) {
            owned
                .values_mut()
                .for_each(|fields| fields.retain(|field| field != path));
        }
        set(live, path, value.clone());
    }
    owned.retain(|_, fields| !fields.is_empty());
    owned.insert(options.manager.to_owned(), wanted.into_keys().collect());
    Vec::new()
}

/// The object after a merge patch. The writer of a field becomes its only owner. `managedFields` in the patch replace
/// the owners.
pub fn patch(before: &Value, patch: &Value, owned: &mut Owned, manager: &str) -> Value {
    let mut live = before.clone();
    merge(&mut live, patch);
    if let Some(entries) = patch["metadata"]["managedFields"].as_array() {
        *owned = entries.iter().map(entry).collect();
    }
    for field in ["uid", "resourceVersion", "managedFields"] {
        live["metadata"][field] = before["metadata"][field].clone();
    }
    // The API server keeps no empty maps in the metadata.
    if let Some(metadata) = live["metadata"].as_object_mut() {
        metadata.retain(|_, value| !value.as_object().is_some_and(Map::is_empty));
    }
    let (mut old, mut new) = (BTreeMap::new(), BTreeMap::new());
    leaves(before, &mut Vec::new(), &mut old);
    leaves(&live, &mut Vec::new(), &mut new);
    let is_owned = |path: &Path| is_field(path) && !path.iter().any(|key| key == "managedFields");
    let changed = |path: &&Path| old.get(*path) != new.get(*path);
    let touched: Vec<Path> = (old.keys().chain(new.keys()))
        .filter(changed)
        .cloned()
        .collect();
    for path in touched.into_iter().filter(is_owned) {
        owned.values_mut().for_each(|fields| {
            fields.remove(&path);
        });
        if new.contains_key(&path) {
            owned.entry(manager.to_owned()).or_default().insert(path);
        }
    }
    owned.retain(|_, fields| !fields.is_empty());
    live
}

fn merge(value: &mut Value, patch: &Value) {
    let Some(patch) = patch.as_object() else {
        *value = patch.clone();
        return;
    };
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    for (key, patch) in patch {
        match (patch, value.as_object_mut()) {
            (Value::Null, Some(map)) => drop(map.remove(key)),
            _ => merge(&mut value[key], patch),
        }
    }
}

/// One entry of `managedFields`, read.
fn entry(entry: &Value) -> (String, BTreeSet<Path>) {
    let mut tree = BTreeMap::new();
    leaves(&entry["fieldsV1"], &mut Vec::new(), &mut tree);
    let field = |path: Path| -> Path {
        let keys = path.iter();
        keys.map(|key| key.strip_prefix("f:").unwrap_or(key).to_owned())
            .collect()
    };
    let manager = entry["manager"].as_str().unwrap_or_default().to_owned();
    (manager, tree.into_keys().map(field).collect())
}

/// What the API server writes into `managedFields`.
pub fn managed(live: &Value, owned: &Owned) -> Value {
    let entry = |(manager, paths): (&String, &BTreeSet<Path>)| {
        let mut tree = json!({});
        for path in paths {
            let keys: Path = path.iter().map(|key| format!("f:{key}")).collect();
            set(&mut tree, &keys, json!({}));
        }
        json!({"manager": manager, "operation": "Apply", "apiVersion": live["apiVersion"], "fieldsType": "FieldsV1", "fieldsV1": tree})
    };
    owned.iter().map(entry).collect()
}

fn conflicts(
    live: &Value,
    wanted: &BTreeMap<Path, Value>,
    owned: &Owned,
    manager: &str,
) -> Vec<Cause> {
    let mut found = Vec::new();
    for (path, value) in wanted
        .iter()
        .filter(|(path, value)| at(live, path) != Some(*value))
    {
        let others = owned
            .iter()
            .filter(|(other, fields)| *other != manager && fields.contains(path));
        found.extend(others.map(|(other, _)| Cause {
            reason: "FieldManagerConflict".to_owned(),
            field: format!(".{}", path.join(".")),
            message: format!("conflict with \"{other}\": {value} is asked for"),
        }));
    }
    found
}

fn is_field(path: &Path) -> bool {
    let identity = [
        &["apiVersion"][..],
        &["kind"],
        &["metadata", "name"],
        &["metadata", "namespace"],
    ];
    !identity
        .iter()
        .any(|known| path.iter().map(String::as_str).eq(known.iter().copied()))
}

fn leaves(value: &Value, path: &mut Path, found: &mut BTreeMap<Path, Value>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                path.push(key.clone());
                leaves(value, path, found);
                path.pop();
            }
        }
        leaf => drop(found.insert(path.clone(), leaf.clone())),
    }
}

fn at<'v>(value: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

fn set(value: &mut Value, path: &[String], to: Value) {
    let Some((key, rest)) = path.split_first() else {
        *value = to;
        return;
    };
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    set(&mut value[key], rest, to);
}

fn remove(value: &mut Value, path: &[String]) {
    let Some((last, parents)) = path.split_last() else {
        return;
    };
    let parent = parents
        .iter()
        .try_fold(value, |value, key| value.get_mut(key));
    if let Some(map) = parent.and_then(Value::as_object_mut) {
        map.remove(last);
    }
}
