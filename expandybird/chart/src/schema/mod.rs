//! `values.schema.json` of a chart and of its subcharts.
//!
//! Schemas see nothing outside of themselves: a `$ref` to a file or a URL is refused. Texts are those of Helm 4.

mod report;
mod text;

use std::borrow::Cow;

use expandybird_gotemplate::value::{Map, Value};
use jsonschema::{PatternOptions, Validator};
use serde_json::{Number, Value as Json};

use crate::error::ChartError;
use crate::node::Node;
use crate::values::table;

/// Bytes of a compiled pattern.
const PATTERN_BYTES: usize = 1 << 20;

/// Checks the values of the charts of a render, each against its own schema.
pub fn check(node: &Node<'_>, values: &Map) -> Result<(), ChartError> {
    let mut faults = String::new();
    check_within(node, values, &mut faults);
    match faults.is_empty() {
        true => Ok(()),
        false => Err(ChartError::Values(format!(
            "values don't meet the specifications of the schema(s) in the following chart(s):\n{faults}"
        ))),
    }
}

fn check_within(node: &Node<'_>, values: &Map, faults: &mut String) {
    if let Some(schema) = &node.chart.schema
        && let Err(text) = check_one(schema, values)
    {
        faults.push_str(&format!("{}:\n{text}", node.name));
    }
    for subchart in &node.subcharts {
        if let Some(values) = table(values, subchart.name.as_bytes()) {
            check_within(subchart, &values, faults);
        }
    }
}

fn check_one(schema: &[u8], values: &Map) -> Result<(), String> {
    let schema: Json = serde_json::from_slice(schema).map_err(|error| error.to_string())?;
    let validator = validator(&schema)?;
    let values = json(&Value::Map(values.clone()));
    let errors: Vec<_> = validator.iter_errors(&values).collect();
    match errors.is_empty() {
        true => Ok(()),
        false => Err(report::report(&errors) + "\n"),
    }
}

fn validator(schema: &Json) -> Result<Validator, String> {
    let patterns = PatternOptions::regex()
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES);
    let options = jsonschema::options()
        .with_pattern_options(patterns)
        .offline();
    options
        .build(schema)
        .map_err(|error| format!("values.schema.json cannot be used: {error}\n"))
}

/// Whole floats are integers: JSON does not distinguish them. The recursion is as deep as the values.
fn json(value: &Value) -> Json {
    match value {
        Value::Bool(truth) => Json::Bool(*truth),
        Value::Int(_, number) => Json::from(*number),
        Value::Uint(_, number) => Json::from(*number),
        Value::Float(number) => float(*number),
        Value::String(text) | Value::Bytes(text) => Json::from(Cow::into_owned(text.to_str())),
        Value::List(list) => list.items().iter().map(json).collect(),
        Value::Map(map) => {
            let entries = map.entries().into_iter();
            entries
                .map(|(key, value)| (key.to_str().into_owned(), json(&value)))
                .collect()
        }
        Value::Nil | Value::Object(_) | Value::Function(_) => Json::Null,
    }
}

/// Integers that a float holds exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn float(number: f64) -> Json {
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
    match number.fract() == 0.0 && number.abs() <= EXACT {
        true => Json::from(number as i64),
        false => Number::from_f64(number).map_or(Json::Null, Json::Number),
    }
}
