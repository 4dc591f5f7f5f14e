//! The functions of Go templates: Sprig's, and those of Helm that need the templates themselves.

use std::sync::{Arc, LazyLock};

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::function_table::FunctionTable;
use expandybird_gotemplate::value::{Call, ExecuteSourceError, Function, Type, Value};
use expandybird_sprig::yaml::{self, Layout};

static FUNCTIONS: LazyLock<Arc<FunctionTable>> = LazyLock::new(|| {
    let table = FunctionTable::default().with(&expandybird_sprig::functions());
    Arc::new(table.with(OF_HELM))
});

/// The table that all templates share.
pub fn functions() -> Arc<FunctionTable> {
    Arc::clone(&FUNCTIONS)
}

/// The name of the template that `tpl` runs, as errors show it.
const INNER: &str = "tpl";

const OF_HELM: &[Function] = &[
    Function::new("include", &[Type::String, Type::Any], |call| {
        let (name, data) = (call.string(0)?.to_str(), call.argument(1)?);
        Ok(call.runtime().execute(&name, data)?.into())
    }),
    Function::new("tpl", &[Type::String, Type::Any], |call| {
        let (source, data) = (call.string(0)?, call.argument(1)?);
        match call.runtime().execute_source(INNER, source, data) {
            Ok(output) => Ok(output.into()),
            Err(ExecuteSourceError::Parse(error)) => Err(error.into()),
            Err(ExecuteSourceError::Execute(failure)) => Err(failure),
        }
    }),
    Function::new("toYaml", &[Type::Any], |call| {
        to_yaml(call, Layout::Compact)
    }),
    Function::new("toYamlPretty", &[Type::Any], |call| {
        to_yaml(call, Layout::Pretty)
    }),
    Function::new("required", &[Type::String, Type::Any], |call| {
        let value = call.argument(1)?;
        let is_missing = match value {
            Value::Nil => true,
            Value::String(text) => text.is_empty(),
            _ => false,
        };
        match is_missing {
            true => Err(Failure::new(call.string(0)?.to_str())),
            false => Ok(value.clone()),
        }
    }),
];

fn to_yaml(call: &mut Call<'_>, layout: Layout) -> Result<Value, Failure> {
    let value = call.argument(0)?;
    Ok(Value::string(yaml::to_yaml(call.budget(), value, layout)?))
}
