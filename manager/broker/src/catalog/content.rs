//! Parameters of requests as properties of a type.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The plan's properties with the parameters over them, as a JSON merge patch (RFC 7396). A parameter that the map
/// names sets the property at that dotted path.
pub fn merged(
    properties: &Map<String, Value>,
    map: &BTreeMap<String, String>,
    parameters: &Map<String, Value>,
) -> Map<String, Value> {
    let mut merged = properties.clone();
    for (name, value) in parameters {
        let path = map.get(name).map_or_else(
            || vec![name.as_str()],
            |path| path.split('.').collect::<Vec<_>>(),
        );
        patch(&mut merged, &nested(&path, value.clone()));
    }
    merged
}

fn nested(path: &[&str], value: Value) -> Map<String, Value> {
    let (first, rest) = (path[0].to_owned(), &path[1..]);
    let value = match rest {
        [] => value,
        rest => Value::Object(nested(rest, value)),
    };
    Map::from_iter([(first, value)])
}

/// Applies a merge patch.
pub fn patch(target: &mut Map<String, Value>, changes: &Map<String, Value>) {
    for (key, change) in changes {
        match (target.get_mut(key), change) {
            (_, Value::Null) => drop(target.shift_remove(key)),
            (Some(Value::Object(old)), Value::Object(new)) => patch(old, new),
            (_, Value::Object(new)) => {
                // Nulls of a new object remove nothing, and are not set either.
                let mut fresh = Map::new();
                patch(&mut fresh, new);
                target.insert(key.clone(), Value::Object(fresh));
            }
            (_, value) => drop(target.insert(key.clone(), value.clone())),
        }
    }
}
