//! What templates read: the registry, and the parameters of the request.

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::{Function, Numbers, Type, Value};

use crate::run;

pub const FUNCTIONS: &[Function] = &[
    Function::new("registry", &[Type::String], |call| {
        let key = call.string(0)?.to_str();
        let run = run::of(call)?;
        run.ledger.read(&key);
        let value = run.registry.read(&key);
        let value = value.map_err(|error| Failure::new(format!("registry read error: {error}")))?;
        Ok(Value::from_json(value, Numbers::Floats))
    }),
    Function::new("parameter", &[Type::String], |call| {
        let path = call.string(0)?.to_str();
        let value = parameter(&run::of(call)?.parameters, &path);
        Ok(value.map_or(Value::Nil, |value| Value::from_json(value, Numbers::Floats)))
    }),
];

/// A path without a slash names a parameter.
fn parameter<'p>(parameters: &'p serde_json::Value, path: &str) -> Option<&'p serde_json::Value> {
    match path.is_empty() || path.starts_with('/') {
        true => parameters.pointer(path),
        false => parameters.pointer(&format!("/{path}")),
    }
}
