//! The values that a caller chooses for a Template: the body of `/templates/NAME/processed`.
//!
//! It may be a `Parameters` object, a map with `parameters` (a list of names and values, or a map), or one of those two
//! by itself.

use common::api::error::ErrorCode;
use serde_json::{Map, Value};

use crate::error::Error;

/// What a caller chooses for one processing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TemplateInputs {
    pub parameters: Map<String, Value>,
    /// Merged over the labels of the Template.
    pub labels: Vec<(String, String)>,
    /// Parameters that the Template does not have are left out.
    pub ignore_unknown: bool,
}

impl TemplateInputs {
    pub fn read(body: Value, ignore_unknown: bool) -> Result<Self, Error> {
        let (parameters, labels) = match body {
            Value::Object(mut map) if is_envelope(&map) => {
                let mut take = |key: &str| map.get_mut(key).map(Value::take).unwrap_or_default();
                (take("parameters"), take("labels"))
            }
            other => (other, Value::Null),
        };
        Ok(Self {
            parameters: named(parameters)?,
            labels: texts(labels)?,
            ignore_unknown,
        })
    }
}

/// A map of names and values has no list or map under these keys.
fn is_envelope(map: &Map<String, Value>) -> bool {
    let is_kind = map.get("kind").and_then(Value::as_str) == Some("Parameters");
    let holds = |key: &str| {
        map.get(key)
            .is_some_and(|value| value.is_array() || value.is_object())
    };
    is_kind || holds("parameters") || holds("labels")
}

fn named(parameters: Value) -> Result<Map<String, Value>, Error> {
    match parameters {
        Value::Null => Ok(Map::new()),
        Value::Object(map) => Ok(map),
        Value::Array(items) => items.into_iter().map(entry).collect(),
        _ => Err(refused(
            "parameters are a map, or a list of names and values",
        )),
    }
}

fn entry(mut item: Value) -> Result<(String, Value), Error> {
    let name = item.get("name").and_then(Value::as_str).map(str::to_owned);
    let name = name.ok_or_else(|| refused("a parameter in a list has a 'name' and a 'value'"))?;
    let value = item.get_mut("value").map(Value::take);
    Ok((name, value.unwrap_or_default()))
}

fn texts(labels: Value) -> Result<Vec<(String, String)>, Error> {
    let map = match labels {
        Value::Null => Map::new(),
        Value::Object(map) => map,
        _ => return Err(refused("labels are a map of texts")),
    };
    let text = |(key, value): (String, Value)| match value {
        Value::String(value) => Ok((key, value)),
        _ => Err(refused("labels are a map of texts")),
    };
    map.into_iter().map(text).collect()
}

fn refused(message: &str) -> Error {
    Error::new(ErrorCode::InvalidRequest, message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parameters_are_read_in_each_of_their_forms() {
        let expected = json!({"A": "x", "B": 1});
        for body in [
            json!({"kind": "Parameters", "apiVersion": "v1", "parameters": [{"name": "A", "value": "x"}, {"name": "B", "value": 1}]}),
            json!({"parameters": {"A": "x", "B": 1}}),
            json!([{"name": "A", "value": "x"}, {"name": "B", "value": 1}]),
            json!({"A": "x", "B": 1}),
        ] {
            let read = TemplateInputs::read(body.clone(), false).unwrap();
            assert_eq!(Value::Object(read.parameters), expected, "{body}");
        }
        let read = TemplateInputs::read(json!({"labels": {"a": "b"}}), true).unwrap();
        assert_eq!(read.labels, [("a".to_owned(), "b".to_owned())]);
        assert!(read.parameters.is_empty() && read.ignore_unknown);
        assert_eq!(
            TemplateInputs::read(Value::Null, false).unwrap(),
            TemplateInputs::default()
        );
    }

    #[test]
    fn what_is_neither_a_map_nor_a_list_of_names_is_refused() {
        for body in [
            json!("A"),
            json!(["A"]),
            json!({"labels": {"a": 1}}),
            json!([{"value": 1}]),
        ] {
            assert!(TemplateInputs::read(body.clone(), false).is_err(), "{body}");
        }
    }
}
