//! Values of charts: maps that are shared between a chart and its subcharts, and paths in them.

use expandybird_gotemplate::value::{GoString, List, Map, Value};

/// The key that every chart shares.
pub const GLOBAL: &[u8] = b"global";

/// A copy that shares nothing. The recursion is as deep as the YAML that the values came from, whose depth is limited.
pub fn copy(map: &Map) -> Map {
    let entries = map.entries().into_iter();
    entries
        .map(|(key, value)| (key, copy_value(value)))
        .collect()
}

fn copy_value(value: Value) -> Value {
    match value {
        Value::Map(map) => copy(&map).into(),
        Value::List(list) => {
            let items = list.items().iter().cloned();
            Value::List(List::new(list.element(), items.map(copy_value).collect()))
        }
        other => other,
    }
}

/// The same entries in another map.
pub fn shallow_copy(map: &Map) -> Map {
    map.entries().into_iter().collect()
}

/// The map under a key, if there is one.
pub fn table(map: &Map, key: &[u8]) -> Option<Map> {
    match map.get(key) {
        Some(Value::Map(table)) => Some(table),
        _ => None,
    }
}

/// The map at a path with dots.
pub fn table_at(map: &Map, path: &str) -> Option<Map> {
    path.split('.')
        .try_fold(map.clone(), |map, key| table(&map, key.as_bytes()))
}

/// What is at a path with dots, unless it is a map.
pub fn scalar_at(map: &Map, path: &str) -> Option<Value> {
    let (map, key) = match path.rsplit_once('.') {
        Some((tables, key)) => (table_at(map, tables)?, key),
        None => (map.clone(), path),
    };
    map.get(key.as_bytes())
        .filter(|value| !matches!(value, Value::Map(_)))
}

/// Removes nulls, at every depth.
pub fn remove_nulls(map: &Map) {
    for (key, value) in map.entries() {
        match value {
            Value::Nil => {
                map.remove(&key);
            }
            Value::Map(inner) => remove_nulls(&inner),
            _ => {}
        }
    }
}

/// A path with dots, for a warning.
pub fn joined(prefix: &str, key: &GoString) -> String {
    match prefix {
        "" => key.to_str().into_owned(),
        prefix => format!("{prefix}.{}", key.to_str()),
    }
}
