//! Other properties for a stored configuration, so that a caller changes one and keeps the rest, secrets included.
//!
//! Not the crate json-patch: a merge patch is ten lines.

use common::model::InputConfig;
use common::yaml::{self, Duplicates, Limits, WriteError, YamlError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What to change in the properties of a configuration's only resource. It is stored, so a change here changes the format.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PropertyChange {
    /// A JSON merge patch (RFC 7396).
    pub set: Map<String, Value>,
    /// Forget the stored properties first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reset: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum PropertiesError {
    #[error("the stored configuration cannot be read")]
    Unreadable(#[from] YamlError),
    #[error("the changed configuration cannot be written")]
    Unwritable(#[from] WriteError),
    #[error("the stored configuration has Kubernetes objects and no resources with properties")]
    Objects,
    #[error(
        "the stored configuration has {0} resources, and properties can be changed only if it has one"
    )]
    Several(usize),
    #[error("the properties of its resource are not a map")]
    NotAMap,
}

/// The configuration with the changed properties. Without a change it stays byte for byte.
pub fn changed(
    input: &InputConfig,
    change: &PropertyChange,
) -> Result<InputConfig, PropertiesError> {
    if *change == PropertyChange::default() {
        return Ok(input.clone());
    }
    let mut configuration = yaml::read(&input.content, &Limits::DEFAULT, Duplicates::Warn)?.value;
    let resource = only_resource(&mut configuration)?;
    let properties = resource.entry("properties").or_insert(Value::Null);
    if change.reset || properties.is_null() {
        *properties = Value::Object(Map::new());
    }
    let Value::Object(properties) = properties else {
        return Err(PropertiesError::NotAMap);
    };
    merge(properties, &change.set);
    Ok(InputConfig {
        content: yaml::write(&configuration)?,
        imports: input.imports.clone(),
    })
}

fn only_resource(configuration: &mut Value) -> Result<&mut Map<String, Value>, PropertiesError> {
    let resources = configuration.get_mut("resources");
    let Some(Value::Array(resources)) = resources else {
        return Err(PropertiesError::Objects);
    };
    match resources.as_mut_slice() {
        [Value::Object(resource)] => Ok(resource),
        others => Err(PropertiesError::Several(others.len())),
    }
}

fn merge(into: &mut Map<String, Value>, patch: &Map<String, Value>) {
    for (key, value) in patch {
        match value {
            Value::Null => {
                into.remove(key);
            }
            Value::Object(patch) => {
                let inner = into.entry(key.as_str()).or_insert(Value::Null);
                if !inner.is_object() {
                    *inner = Value::Object(Map::new());
                }
                if let Value::Object(inner) = inner {
                    merge(inner, patch);
                }
            }
            value => {
                into.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn input(content: &str) -> InputConfig {
        InputConfig {
            content: content.to_owned(),
            imports: Vec::new(),
        }
    }

    fn change(set: Value, reset: bool) -> PropertyChange {
        let Value::Object(set) = set else {
            panic!("a change is a map")
        };
        PropertyChange { set, reset }
    }

    fn properties(content: &str, change: &PropertyChange) -> Value {
        let changed = changed(&input(content), change).unwrap();
        let read = yaml::read(&changed.content, &Limits::DEFAULT, Duplicates::Error).unwrap();
        read.value["resources"][0]["properties"].clone()
    }

    const WEB: &str = "resources:\n- {name: web, type: web:v1, properties: {a: {b: 1, c: \"yes\"}, password: hunter2, l: [1, 2]}}\n";

    #[test]
    fn what_is_set_changes_and_the_rest_stays() {
        for (set, expected) in [
            (
                json!({"a": {"b": 5}}),
                json!({"a": {"b": 5, "c": "yes"}, "password": "hunter2", "l": [1, 2]}),
            ),
            (
                json!({"a": null, "l": [3]}),
                json!({"password": "hunter2", "l": [3]}),
            ),
            (
                json!({"l": {"x": {"y": null, "z": 1}}, "n": 1}),
                json!({"a": {"b": 1, "c": "yes"}, "password": "hunter2", "l": {"x": {"z": 1}}, "n": 1}),
            ),
        ] {
            assert_eq!(properties(WEB, &change(set, false)), expected);
        }
    }

    #[test]
    fn a_reset_forgets_what_was_set_before() {
        let reset = change(json!({"a": 1}), true);
        assert_eq!(properties(WEB, &reset), json!({"a": 1}));
    }

    #[test]
    fn without_a_change_any_configuration_stays_as_it_is_written() {
        let objects = input("# ours\napiVersion: v1\nkind: ConfigMap\n");
        let kept = changed(&objects, &PropertyChange::default()).unwrap();
        assert_eq!(kept, objects);
    }

    #[test]
    fn properties_of_several_resources_or_of_objects_cannot_be_changed() {
        let set = change(json!({"a": 1}), false);
        for (content, expected) in [
            (
                "resources: [{name: a, type: A}, {name: b, type: B}]",
                "has 2 resources",
            ),
            ("resources: []", "has 0 resources"),
            ("apiVersion: v1\nkind: ConfigMap\n", "Kubernetes objects"),
            (
                "resources: [{name: a, type: A, properties: 1}]",
                "not a map",
            ),
        ] {
            let error = changed(&input(content), &set).unwrap_err().to_string();
            assert!(error.contains(expected), "{content}: {error}");
        }
    }
}
