//! Properties made up from a schema, so that a template without an example can be expanded.

use serde_json::{Map, Value, json};

/// How deep to look into a schema.
const DEPTH: usize = 8;

/// A value for each property that must be there and has no default.
pub fn properties(schema: &Value) -> Map<String, Value> {
    let made = object(schema, DEPTH);
    made.as_object().cloned().unwrap_or_default()
}

fn object(schema: &Value, depth: usize) -> Value {
    let required = schema["required"].as_array().into_iter().flatten();
    let names = required.filter_map(Value::as_str);
    let made = names.filter_map(|name| {
        let property = &schema["properties"][name];
        let has_default = property.get("default").is_some();
        (!has_default).then(|| (name.to_owned(), value(property, depth)))
    });
    Value::Object(made.collect())
}

fn value(schema: &Value, depth: usize) -> Value {
    if let Some(given) = given(schema) {
        return given;
    }
    made(schema, depth)
}

/// What the schema itself names.
fn given(schema: &Value) -> Option<Value> {
    if let Some(given) = ["default", "const"].iter().find_map(|key| schema.get(key)) {
        return Some(given.clone());
    }
    let mut lists = ["examples", "enum"].into_iter();
    lists.find_map(|key| schema[key].as_array()?.first().cloned())
}

fn made(schema: &Value, depth: usize) -> Value {
    if depth == 0 {
        return Value::Null;
    }
    let count = |key: &str| {
        schema[key]
            .as_u64()
            .and_then(|count| usize::try_from(count).ok())
    };
    match kind(schema) {
        "object" => object(schema, depth - 1),
        "array" => {
            let count = count("minItems").unwrap_or_default().min(DEPTH);
            json!(vec![value(&schema["items"], depth - 1); count])
        }
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
        "boolean" => json!(false),
        "null" => Value::Null,
        _ => text(count("minLength"), count("maxLength")),
    }
}

fn text(shortest: Option<usize>, longest: Option<usize>) -> Value {
    let length = shortest.unwrap_or_default().clamp(6, 1024);
    let length = length.min(longest.unwrap_or(length));
    json!("sample".chars().cycle().take(length).collect::<String>())
}

fn kind(schema: &Value) -> &str {
    match &schema["type"] {
        Value::String(kind) => kind,
        Value::Array(kinds) => kinds.first().and_then(Value::as_str).unwrap_or_default(),
        _ if schema["properties"].is_object() => "object",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_be_there_and_has_no_default_is_made_up() {
        let schema = json!({
            "required": ["name", "size", "mode", "place", "filled"],
            "properties": {
                "name": {"type": "string", "minLength": 8},
                "size": {"type": "integer", "minimum": 3},
                "mode": {"enum": ["fast", "slow"]},
                "place": {"type": "object", "required": ["zone"], "properties": {"zone": {"type": "string", "maxLength": 3}}},
                "filled": {"default": 1},
                "optional": {"type": "string"},
            },
        });
        let expected = json!({
            "name": "samplesa", "size": 3, "mode": "fast", "place": {"zone": "sam"},
        });
        assert_eq!(Value::Object(properties(&schema)), expected);
    }
}
