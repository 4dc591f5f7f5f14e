//! The functions that templates of charts may call: Sprig's, and Helm's own.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::function_table::FunctionTable;
use expandybird_gotemplate::text::quoted;
use expandybird_gotemplate::value::{
    Call, ExecuteSourceError, Function, GoString, List, Map, Numbers, Type, Value,
};
use expandybird_sprig::json;
use expandybird_sprig::yaml::{self, Layout};

use crate::lookup;

/// The name of the set of all templates, and of the template that `tpl` runs.
pub const SET: &str = "gotpl";
/// What Go prints for a value that does not exist. Helm removes it.
const NO_VALUE: &[u8] = b"<no value>";
/// Around the sentence of an author, in the error of `required` and `fail`.
pub const SENTENCE: (&str, &str) = ("HELM_ERR_START", "HELM_ERR_END");
/// How often a template may be within itself.
const MAX_NESTED: usize = 1000;
/// Bytes of a text that `tpl` runs.
const TPL_BYTES: usize = 256 << 10;
/// Texts that `tpl` runs in one render.
const TPL_CALLS: usize = 10_000;

static FUNCTIONS: LazyLock<Arc<FunctionTable>> = LazyLock::new(|| {
    let table = FunctionTable::default().with(&expandybird_sprig::functions());
    Arc::new(table.with(OF_HELM))
});

/// The table that all charts share.
pub fn functions() -> Arc<FunctionTable> {
    Arc::clone(&FUNCTIONS)
}

/// What the functions of one render count.
#[derive(Default)]
pub struct Counters {
    /// How often each template is within itself.
    included: HashMap<GoString, usize>,
    tpl_calls: usize,
}

const OF_HELM: &[Function] = &[
    Function::new("include", &[Type::String, Type::Any], include),
    Function::new("tpl", &[Type::String, Type::Any], tpl),
    Function::new("required", &[Type::String, Type::Any], |call| {
        match call.argument(1)? {
            Value::Nil => refuse(call),
            Value::String(text) if text.is_empty() => refuse(call),
            value => Ok(value.clone()),
        }
    }),
    Function::new("fail", &[Type::String], refuse),
    Function::new("toYaml", &[Type::Any], |call| {
        to_yaml(call, Layout::Compact)
    }),
    Function::new("toYamlPretty", &[Type::Any], |call| {
        to_yaml(call, Layout::Pretty)
    }),
    Function::new("mustToYaml", &[Type::Any], |call| {
        let value = call.argument(0)?;
        let text = yaml::to_yaml(call.budget(), value, Layout::Compact)?;
        Ok(Value::string(text))
    }),
    Function::new("fromJson", &[Type::String], |call| {
        Ok(match read_json(call)? {
            Ok(Value::Map(map)) => map.into(),
            Ok(Value::Nil) => Map::nil(Type::Any).into(),
            Ok(other) => error_entry(not_json_of(&other, Type::MAP)),
            Err(error) => error_entry(error),
        })
    }),
    Function::new("fromJsonArray", &[Type::String], |call| {
        Ok(match read_json(call)? {
            Ok(Value::List(list)) => list.into(),
            Ok(Value::Nil) => List::nil(Type::Any).into(),
            Ok(other) => error_item(not_json_of(&other, Type::LIST)),
            Err(error) => error_item(error),
        })
    }),
    Function::new("fromYaml", &[Type::String], |call| {
        Ok(match read_yaml(call)? {
            Ok(Value::Map(map)) => map.into(),
            Ok(Value::Nil) => Map::nil(Type::Any).into(),
            Ok(other) => error_entry(not_yaml_of(&other, Type::MAP)),
            Err(error) => error_entry(error),
        })
    }),
    Function::new("fromYamlArray", &[Type::String], |call| {
        Ok(match read_yaml(call)? {
            Ok(Value::List(list)) => list.into(),
            Ok(Value::Nil) => List::nil(Type::Any).into(),
            Ok(other) => error_item(not_yaml_of(&other, Type::LIST)),
            Err(error) => error_item(error),
        })
    }),
    Function::new(
        "lookup",
        &[Type::String, Type::String, Type::String, Type::String],
        lookup::lookup,
    ),
    // Rendering asks no name server.
    Function::new("getHostByName", &[Type::String], |_| Ok("".into())),
];

/// Nothing, where the value has no YAML.
fn to_yaml(call: &mut Call<'_>, layout: Layout) -> Result<Value, Failure> {
    let value = call.argument(0)?;
    match yaml::to_yaml(call.budget(), value, layout).map_err(Failure::from) {
        Ok(text) => Ok(Value::string(text)),
        Err(Failure::Limit(limit)) => Err(limit.into()),
        Err(_) => Ok("".into()),
    }
}

/// The value of a JSON text, or Go's error.
fn read_json(call: &mut Call<'_>) -> Result<Result<Value, String>, Failure> {
    let text = call.string(0)?;
    call.budget().spend_string(text.len())?;
    Ok(json::decode(text))
}

/// The value of a YAML text, or an error in Helm's form.
fn read_yaml(call: &mut Call<'_>) -> Result<Result<Value, String>, Failure> {
    let text = call.string(0)?;
    call.budget().spend_string(text.len())?;
    let read = crate::yaml::read(text).map_err(|error| error.to_string());
    Ok(read.map(|document| Value::from_json(&document, Numbers::Floats)))
}

/// The same for YAML, which Go reads as JSON.
fn not_yaml_of(value: &Value, wanted: Type) -> String {
    let reason = not_json_of(value, wanted);
    format!("error unmarshaling JSON: while decoding JSON: {reason}")
}

/// Go's error for JSON of another type.
fn not_json_of(value: &Value, wanted: Type) -> String {
    let kind = match value {
        Value::Bool(_) => "bool",
        Value::String(_) => "string",
        Value::List(_) => "array",
        Value::Map(_) => "object",
        _ => "number",
    };
    let wanted = wanted.text();
    format!("json: cannot unmarshal {kind} into Go value of type {wanted}")
}

/// Helm's map for a text that cannot be read.
fn error_entry(error: String) -> Value {
    let map = Map::default();
    map.insert("Error", error.into());
    map.into()
}

/// Helm's list for a text that cannot be read.
fn error_item(error: String) -> Value {
    List::any(vec![error.into()]).into()
}

/// Fails with the author's sentence.
fn refuse(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (start, end) = SENTENCE;
    Err(Failure::new(format!(
        "{start}{}{end}",
        call.string(0)?.to_str()
    )))
}

fn misused() -> Failure {
    Failure::new("the session of a chart has other counters")
}

fn include(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (name, data) = (call.string(0)?, call.argument(1)?);
    let counters = call.host::<Counters>().ok_or_else(misused)?;
    let count = counters.included.entry(name.clone()).or_default();
    if *count > MAX_NESTED {
        return Err(Failure::new(format!(
            "rendering template has a nested reference name: {}: unable to execute template",
            name.to_str()
        )));
    }
    *count += 1;
    let output = call.runtime().execute(&name.to_str(), data);
    let counters = call.host::<Counters>().ok_or_else(misused)?;
    if let Some(count) = counters.included.get_mut(name) {
        *count -= 1;
    }
    Ok(output?.into())
}

fn tpl(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (source, data) = (call.string(0)?, call.argument(1)?);
    if source.len() > TPL_BYTES {
        return Err(Failure::new(format!(
            "the text for tpl is larger than {TPL_BYTES} bytes"
        )));
    }
    let counters = call.host::<Counters>().ok_or_else(misused)?;
    counters.tpl_calls += 1;
    if counters.tpl_calls > TPL_CALLS {
        return Err(Failure::new(format!(
            "tpl is called more than {TPL_CALLS} times"
        )));
    }
    match call.runtime().execute_source(SET, source, data) {
        Ok(output) => Ok(Value::string(without_no_value(&output))),
        Err(ExecuteSourceError::Parse(error)) => {
            let source = quoted(&source.to_str());
            Err(Failure::new(format!(
                "cannot parse template {source}: {error}"
            )))
        }
        Err(ExecuteSourceError::Execute(Failure::Template { context, error })) => {
            let source = quoted(&source.to_str());
            let outer = format!("error during tpl function execution for {source}: ");
            let context = outer + &context;
            Err(Failure::Template { context, error })
        }
        Err(ExecuteSourceError::Execute(failure)) => Err(failure),
    }
}

/// The text without the words that Go prints for a value that does not exist.
pub fn without_no_value(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memmem::find(rest, NO_VALUE) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + NO_VALUE.len()..];
    }
    out.extend_from_slice(rest);
    out
}
