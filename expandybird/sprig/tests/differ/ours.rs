//! The same templates, here.

use std::cell::OnceCell;
use std::sync::Arc;

use expandybird_gotemplate::budget::Limits;
use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::function_table::FunctionTable;
use expandybird_gotemplate::value::{Call, Function, Numbers, Type, Value};
use expandybird_gotemplate::{Options, Session, Set, execute};
use expandybird_sprig::{made, yaml};

use crate::generator;
use crate::original::Answer;

thread_local! {
    static FUNCTIONS: OnceCell<Arc<FunctionTable>> = const { OnceCell::new() };
}

const TO_YAML: &[Function] = &[
    Function::new("toYaml", &[Type::Any], |call| {
        written(call, yaml::Layout::Compact)
    }),
    Function::new("toYamlPretty", &[Type::Any], |call| {
        written(call, yaml::Layout::Pretty)
    }),
];

fn written(call: &mut Call<'_>, layout: yaml::Layout) -> Result<Value, Failure> {
    let value = call.argument(0)?;
    let yaml = yaml::to_yaml(call.budget(), value, layout);
    match yaml.map_err(Failure::from) {
        Ok(yaml) => Ok(Value::string(yaml)),
        Err(failure) if failure.limit().is_some() => Err(failure),
        Err(_) => Ok("".into()),
    }
}

fn functions() -> Arc<FunctionTable> {
    let table = || {
        Arc::new(
            FunctionTable::default()
                .with(&expandybird_sprig::functions())
                .with(TO_YAML),
        )
    };
    FUNCTIONS.with(|cell| cell.get_or_init(table).clone())
}

/// Nothing was made before.
struct NoValues;

impl made::Values for NoValues {
    fn kept(&self, _: &str) -> Option<String> {
        None
    }

    fn random(&mut self, _: &str, bytes: &mut [u8]) {
        fastrand::fill(bytes);
    }

    fn time(&self) -> jiff::Timestamp {
        jiff::Timestamp::now()
    }

    fn used(&mut self, _: &str, _: &str, _: bool) {}
}

/// The answer to a template.
pub fn answer(template: &str) -> Answer {
    let mut set = Set::new("t", functions(), Options::default());
    if let Err(error) = set.parse("t", template) {
        return Answer::Error(error.to_string());
    }
    let data = Value::from_json(&generator::data(), Numbers::Floats);
    let host = made::Host::new(Box::new(NoValues));
    match execute(&set, &mut Session::new(Limits::default(), host), "t", &data) {
        Ok(output) => Answer::Output(String::from_utf8_lossy(&output).into_owned()),
        Err(error) if error.limit().is_some() => Answer::Died,
        Err(error) => Answer::Error(error.to_string()),
    }
}
