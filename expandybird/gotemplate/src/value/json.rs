//! Values from JSON.

use super::{GoString, List, Map, Value};

/// What the numbers of JSON become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// `float64`, all of them: Helm's values.
    Floats,
    /// Integers that fit become `int64`, others `float64`.
    Integers,
}

impl Numbers {
    fn read(self, number: &serde_json::Number) -> Value {
        match number.as_i64() {
            Some(integer) if self == Self::Integers => Value::int64(integer),
            _ => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        }
    }
}

impl Value {
    /// What Go makes of a JSON document: `map[string]interface {}`, `[]interface {}`, `string`, `bool`, numbers, nil.
    #[must_use]
    pub fn from_json(json: &serde_json::Value, numbers: Numbers) -> Self {
        match json {
            serde_json::Value::Null => Self::Nil,
            serde_json::Value::Bool(truth) => Self::Bool(*truth),
            serde_json::Value::Number(number) => numbers.read(number),
            serde_json::Value::String(text) => text.as_str().into(),
            serde_json::Value::Array(items) => {
                let items = items.iter().map(|item| Self::from_json(item, numbers));
                Self::List(List::any(items.collect()))
            }
            serde_json::Value::Object(entries) => {
                let entry = |(key, value): (&String, _)| {
                    (
                        GoString::from(key.as_str()),
                        Self::from_json(value, numbers),
                    )
                };
                Self::Map(entries.iter().map(entry).collect::<Map>())
            }
        }
    }
}
