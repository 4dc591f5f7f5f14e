//! The properties of an instance: the parameters of a request.

use common::api::error::ErrorCode;
use serde_json::{Map, Value, json};

use super::super::{EngineError, Instance};

/// The parameters. None at all are an empty map.
pub fn of(instance: &Instance<'_>) -> Result<Value, EngineError> {
    match instance.properties {
        None | Some(Value::Null) => Ok(json!({})),
        Some(map @ Value::Object(_)) => Ok(map.clone()),
        Some(_) => Err(EngineError {
            file: Some(instance.template.path().to_owned()),
            ..EngineError::new(
                ErrorCode::InvalidProperties,
                "the properties of a plan are a map: the parameters of a request",
            )
        }),
    }
}

/// Of a schema, what marks parameters as secret. The rest, a broker has checked: with the schema of the request's own
/// kind, which for an update is another one.
pub fn marks(schema: &Value) -> Value {
    let mut kept = Map::new();
    for key in ["writeOnly", "format"] {
        if let Some(mark) = schema.get(key) {
            kept.insert(key.to_owned(), mark.clone());
        }
    }
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let properties = properties.iter();
        let properties: Map<_, _> = properties
            .map(|(name, schema)| (name.clone(), marks(schema)))
            .collect();
        kept.insert("properties".to_owned(), Value::Object(properties));
    }
    Value::Object(kept)
}
