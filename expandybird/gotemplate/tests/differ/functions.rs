//! The functions that the oracle has.

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::format;
use expandybird_gotemplate::value::{Call, Function, GoString, List, Map, Type, UintKind, Value};

/// The argument, printed.
fn printed(call: &mut Call<'_>) -> Result<Value, Failure> {
    let mut out = Vec::new();
    format::print(&mut out, 1 << 20, call.arguments())?;
    Ok(Value::string(out))
}

fn texts(values: &[Value]) -> Vec<GoString> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        _ => None,
    };
    values.iter().filter_map(text).collect()
}

pub const FUNCTIONS: &[Function] = &[
    Function::variadic("add", &[], Type::INT, |call| {
        let number = |value: &Value| match value {
            Value::Int(_, number) => *number,
            _ => 0,
        };
        Ok(Value::int(
            call.rest().iter().map(number).fold(0, i64::wrapping_add),
        ))
    }),
    Function::new("echo", &[Type::Any], |call| Ok(call.argument(0)?.clone())),
    Function::new("fail", &[Type::String], |call| {
        Err(Failure::new(call.string(0)?.to_str()))
    }),
    Function::new("int64", &[Type::INT], |call| Ok(Value::int64(call.int(0)?))),
    Function::variadic("join", &[Type::String], Type::String, |call| {
        Ok(Value::string(texts(call.rest()).join(&**call.string(0)?)))
    }),
    Function::new("kv", &[Type::String, Type::Any], |call| {
        let entry = (call.string(0)?.clone(), call.argument(1)?.clone());
        Ok(Map::from_iter([entry]).into())
    }),
    Function::variadic("list", &[], Type::Any, |call| {
        Ok(if call.rest().is_empty() {
            List::nil(Type::Any).into()
        } else {
            List::any(call.rest().to_vec()).into()
        })
    }),
    Function::new("set", &[Type::MAP, Type::String, Type::Any], |call| {
        let (map, key, value) = (call.map(0)?, call.string(1)?, call.argument(2)?.clone());
        call.set(map, key, value)?;
        Ok(map.clone().into())
    }),
    Function::variadic("strings", &[], Type::String, |call| {
        Ok(if call.rest().is_empty() {
            List::nil(Type::String).into()
        } else {
            List::strings(texts(call.rest())).into()
        })
    }),
    Function::new("takeBool", &[Type::Bool], printed),
    Function::new("takeBytes", &[Type::BYTES], printed),
    Function::new("takeFloat", &[Type::Float], printed),
    Function::new("takeInt64", &[Type::INT64], printed),
    Function::new("takeList", &[Type::LIST], printed),
    Function::new("takeMap", &[Type::MAP], printed),
    Function::new("takeString", &[Type::String], printed),
    Function::new("takeUint", &[Type::Uint(UintKind::Uint64)], printed),
    Function::new("typeOf", &[Type::Any], |call| {
        Ok(call.argument(0)?.type_text().into())
    }),
    Function::new("zero", &[], |_| Ok(Value::int(0))),
];
