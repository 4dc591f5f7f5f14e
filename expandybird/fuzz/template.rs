//! Any bytes as a Go template: fed by the fuzz target beside this, and in every test run by
//! `gotemplate/tests/arbitrary.rs`.

use std::sync::Arc;

use expandybird_gotemplate::budget::Limits;
use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::function_table::FunctionTable;
use expandybird_gotemplate::value::{ExecuteSourceError, Function, List, Numbers, Type, Value};
use expandybird_gotemplate::{Options, Session, Set, execute};

/// The functions that make more of a template than it shows.
const FUNCTIONS: &[Function] = &[
    Function::new("include", &[Type::String, Type::Any], |call| {
        let (name, data) = (call.string(0)?.to_str(), call.argument(1)?);
        Ok(call.runtime().execute(&name, data)?.into())
    }),
    Function::new("tpl", &[Type::String, Type::Any], |call| {
        let (source, data) = (call.string(0)?, call.argument(1)?);
        match call.runtime().execute_source("inner", source, data) {
            Ok(output) => Ok(output.into()),
            Err(ExecuteSourceError::Parse(error)) => Err(error.into()),
            Err(ExecuteSourceError::Execute(failure)) => Err(failure),
        }
    }),
    Function::new("set", &[Type::MAP, Type::String, Type::Any], |call| {
        let (map, key, value) = (call.map(0)?, call.string(1)?, call.argument(2)?.clone());
        call.set(map, key, value)?;
        Ok(map.clone().into())
    }),
    Function::variadic("list", &[], Type::Any, |call| {
        let items = call.rest().to_vec();
        call.budget()
            .spend_list(items.len())
            .map_err(Failure::from)?;
        Ok(List::any(items).into())
    }),
];

/// Parses and runs a template. Returns the error's text, which must be writable whatever it is.
pub fn run(text: &[u8]) -> Result<usize, String> {
    let functions = FunctionTable::default().with(FUNCTIONS);
    let mut set = Set::new("fuzz", Arc::new(functions), Options::default());
    set.parse("main", text).map_err(|error| error.to_string())?;
    let limits = Limits {
        steps: 300_000,
        output_bytes: 1 << 20,
        string_bytes: 1 << 20,
        ..Limits::default()
    };
    let mut session = Session::new(limits, ());
    let data = serde_json::json!({"a": {"a": 1}, "l": ["x", 2.5, null], "s": "text"});
    let data = Value::from_json(&data, Numbers::Floats);
    match execute(&set, &mut session, "main", &data) {
        Ok(output) => Ok(output.len()),
        Err(error) => Err(error.to_string()),
    }
}
