//! Who owns which field: server-side apply, as far as the tests need it.

use std::collections::{BTreeMap, BTreeSet};

use resourcifier::kubectl::{ApplyOptions, Cause};
use serde_json::{Map, Value, json};

/// The keys from the object's root to a value that is no map.
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
