//! The functions of the Inter-operator: Sprig's, with some of its own in their place.

use std::sync::{Arc, LazyLock};

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::function_table::FunctionTable;
use expandybird_gotemplate::value::{Call, Function, Map, Numbers, Type, Value};
use expandybird_sprig::json::{self, EncodeError, Style};
use expandybird_sprig::yaml::{self, Layout};

/// Nothing of the machine: plans are read by a service.
const CLOSED: [&str; 3] = ["env", "expandenv", "getHostByName"];

static FUNCTIONS: LazyLock<Arc<FunctionTable>> = LazyLock::new(|| {
    let table = FunctionTable::default().with(&expandybird_sprig::functions());
    let table = table.with(OWN);
    Arc::new(CLOSED.into_iter().fold(table, FunctionTable::without))
});

/// The table that all plans share.
pub fn functions() -> Arc<FunctionTable> {
    Arc::clone(&FUNCTIONS)
}

const TEXT: &[Type] = &[Type::String];
const ANY: &[Type] = &[Type::Any];

const OWN: &[Function] = &[
    // Sprig's gives the error as the text.
    Function::new("b64dec", TEXT, |call| {
        let text = call.string(0)?;
        call.budget().spend_string(text.len())?;
        match expandybird_sprig::decode_base64(text) {
            Ok(bytes) => Ok(Value::string(bytes)),
            Err(position) => Err(Failure::new(format!(
                "illegal base64 data at input byte {position}"
            ))),
        }
    }),
    Function::new("unmarshalJSON", TEXT, |call| {
        let source = call.string(0)?.to_str();
        let failed = |reason: String| {
            let message = format!("failed to unmarshal {source}. {reason}");
            Err(Failure::new(message))
        };
        match read_json(call)? {
            Ok(Value::Map(map)) => Ok(map.into()),
            Ok(Value::Nil) => Ok(Map::default().into()),
            Ok(other) => failed(not_a_map(&other)),
            Err(reason) => failed(reason),
        }
    }),
    Function::new("marshalJSON", &[Type::MAP], |call| {
        let value = call.argument(0)?;
        Ok(Value::string(json::encode(
            call.budget(),
            value,
            Style::COMPACT,
        )?))
    }),
    Function::new("toJson", ANY, |call| {
        let value = call.argument(0)?;
        match json::encode(call.budget(), value, Style::COMPACT) {
            Ok(text) => Ok(Value::string(text)),
            Err(EncodeError::Limit(limit)) => Err(limit.into()),
            Err(_) => Ok("".into()),
        }
    }),
    Function::new("fromJson", TEXT, |call| {
        Ok(match read_json(call)? {
            Ok(Value::Map(map)) => map.into(),
            Ok(Value::Nil) => Map::default().into(),
            Ok(other) => error_entry(not_a_map(&other)),
            Err(error) => error_entry(error),
        })
    }),
    Function::new("toYaml", ANY, |call| {
        let value = call.argument(0)?;
        match yaml::to_yaml(call.budget(), value, Layout::Compact).map_err(Failure::from) {
            Ok(text) => Ok(Value::string(text)),
            Err(Failure::Limit(limit)) => Err(limit.into()),
            Err(_) => Ok("".into()),
        }
    }),
    Function::new("fromYaml", TEXT, |call| {
        let text = call.string(0)?;
        call.budget().spend_string(text.len())?;
        Ok(match expandybird_chart::yaml::read(text) {
            Ok(document) => match Value::from_json(&document, Numbers::Floats) {
                Value::Map(map) => map.into(),
                Value::Nil => Map::default().into(),
                other => error_entry(format!(
                    "error unmarshaling JSON: while decoding JSON: {}",
                    not_a_map(&other)
                )),
            },
            Err(error) => error_entry(error.to_string()),
        })
    }),
];

/// The value of a JSON text, or Go's error.
fn read_json(call: &mut Call<'_>) -> Result<Result<Value, String>, Failure> {
    let text = call.string(0)?;
    call.budget().spend_string(text.len())?;
    Ok(json::decode(text))
}

/// Go's error for a document that is not a map.
fn not_a_map(value: &Value) -> String {
    let kind = match value {
        Value::Bool(_) => "bool",
        Value::String(_) => "string",
        Value::List(_) => "array",
        _ => "number",
    };
    let wanted = Type::MAP.text();
    format!("json: cannot unmarshal {kind} into Go value of type {wanted}")
}

fn error_entry(error: String) -> Value {
    let map = Map::default();
    map.insert("Error", error.into());
    map.into()
}
