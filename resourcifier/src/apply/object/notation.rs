//! The API server's way to write a field, `.spec.containers[name="app"].image`, found in an object.
//!
//! It quotes no keys, so `.metadata.labels.a.b/c` means something only for an object that has such a key; and it names items
//! of lists by their keys, so that one field may be at different places in what is asked for and in what is there.

use serde_json::Value;

use crate::plan::Path;

/// Deeper fields are none of Kubernetes' objects.
const DEPTH: usize = 64;

/// Where the object has the field.
pub fn resolve(field: &str, object: &Value) -> Option<Path> {
    within(field, object, Path::default(), 0)
}

fn within(field: &str, value: &Value, path: Path, depth: usize) -> Option<Path> {
    if field.is_empty() {
        return Some(path);
    }
    if depth == DEPTH {
        return None;
    }
    if let Some(rest) = field.strip_prefix('.') {
        let mut keys: Vec<(&String, &Value)> = value
            .as_object()?
            .iter()
            .filter(|(key, _)| is_first(key, rest))
            .collect();
        keys.sort_by_key(|(key, _)| std::cmp::Reverse(key.len()));
        return keys
            .into_iter()
            .find_map(|(key, value)| within(&rest[key.len()..], value, path.key(key), depth + 1));
    }
    let (item, rest) = Item::parse(field)?;
    let items = value.as_array()?;
    let index = items
        .iter()
        .enumerate()
        .position(|(index, value)| item.is(index, value))?;
    within(rest, &items[index], path.index(index), depth + 1)
}

/// Whether a field can go on like this after the key.
fn is_first(key: &str, field: &str) -> bool {
    field
        .strip_prefix(key)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Which item of a list.
#[derive(Debug, PartialEq)]
pub enum Item {
    Keys(Vec<(String, Value)>),
    Value(Value),
    Index(usize),
}

impl Item {
    /// Reads `[name="app",port=80]`, `[="value"]` or `[0]`, and gives what follows.
    fn parse(text: &str) -> Option<(Self, &str)> {
        let mut rest = text.strip_prefix('[')?;
        if let Some((index, after)) = rest.split_once(']')
            && let Ok(index) = index.parse()
        {
            return Some((Self::Index(index), after));
        }
        let mut keys = Vec::new();
        loop {
            let (key, after) = rest.split_once('=')?;
            let mut values = serde_json::Deserializer::from_str(after).into_iter::<Value>();
            let value = values.next()?.ok()?;
            let after = &after[values.byte_offset()..];
            keys.push((key.to_owned(), value));
            match after.strip_prefix(',') {
                Some(more) => rest = more,
                None => {
                    let item = match &keys[..] {
                        [(key, value)] if key.is_empty() => Self::Value(value.clone()),
                        _ => Self::Keys(keys),
                    };
                    return Some((item, after.strip_prefix(']')?));
                }
            }
        }
    }

    /// Reads an item as `managedFields` have it: `k:{"name":"app"}`, `v:"value"` or `i:0`.
    pub fn managed(key: &str) -> Option<Self> {
        let (sort, text) = key.split_once(':')?;
        match sort {
            "k" => {
                let keys: serde_json::Map<String, Value> = serde_json::from_str(text).ok()?;
                Some(Self::Keys(keys.into_iter().collect()))
            }
            "v" => serde_json::from_str(text).ok().map(Self::Value),
            "i" => text.parse().ok().map(Self::Index),
            _ => None,
        }
    }

    /// Whether it is this item of a list. A key that an item leaves out has its default, which is not known here.
    pub fn is(&self, index: usize, item: &Value) -> bool {
        match self {
            Self::Index(wanted) => *wanted == index,
            Self::Value(value) => item == value,
            Self::Keys(keys) => {
                let has = |(key, value): &(String, Value)| match item.get(key) {
                    Some(found) => found == value,
                    None => key == "protocol" && value == "TCP",
                };
                item.is_object() && keys.iter().all(has)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_found_by_the_keys_that_the_object_has() {
        let object = json!({
            "metadata": {"labels": {"a": "x", "a.b/c": "y"}, "finalizers": ["f/x"]},
            "spec": {"replicas": 1, "list": [1, 2], "containers": [
                {"name": "side"}, {"name": "app", "image": "i", "ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]},
            ]},
        });
        let cases = [
            (".spec.replicas", Some("spec.replicas")),
            (".metadata.labels.a", Some("metadata.labels.a")),
            (".metadata.labels.a.b/c", Some("metadata.labels['a.b/c']")),
            (
                r#".spec.containers[name="app"].image"#,
                Some("spec.containers[1].image"),
            ),
            (
                r#".spec.containers[name="app"].ports[containerPort=80,protocol="UDP"]"#,
                Some("spec.containers[1].ports[1]"),
            ),
            (
                r#".spec.containers[name="app"].ports[containerPort=80,protocol="TCP"].containerPort"#,
                Some("spec.containers[1].ports[0].containerPort"),
            ),
            (
                r#".metadata.finalizers[="f/x"]"#,
                Some("metadata.finalizers[0]"),
            ),
            (".spec.list[1]", Some("spec.list[1]")),
            (".spec.gone", None),
            (r#".spec.containers[name="gone"].image"#, None),
            (".spec.containers[", None),
        ];
        for (field, expected) in cases {
            let found = resolve(field, &object).map(|path| path.to_string());
            assert_eq!(found.as_deref(), expected, "{field}");
        }
    }
}
