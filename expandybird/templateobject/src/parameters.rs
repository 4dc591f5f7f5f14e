//! What each parameter's value is: chosen by the caller, a default, kept, or made now.

use std::collections::HashSet;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};

use crate::dialect::Dialect;
use crate::fault::{Fault, Faults};
use crate::field::Field;
use crate::generator::Expression;
use crate::inputs::Inputs;
use crate::template::{Kind, Parameter, Template};
use crate::values::Values;

/// The only generator.
const EXPRESSION: &str = "expression";

/// The parameters with their values, and the names of those whose values were generated, now or before.
#[derive(Debug)]
pub struct Resolved {
    pub parameters: Vec<Parameter>,
    pub generated: Vec<usize>,
}

/// The text of a value: text as it is, everything else as JSON.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// # Errors
/// A parameter is missing or has a value that is not valid. All faults are listed.
pub fn resolve(
    template: &Template,
    inputs: &Inputs<'_>,
    values: &mut dyn Values,
) -> Result<Resolved, Faults> {
    let mut resolver = Resolver {
        dialect: template.dialect,
        faults: unknown(template, inputs),
        generated: Vec::new(),
    };
    let parameters = template.parameters.iter().enumerate();
    let parameters = parameters
        .map(|(index, parameter)| {
            let chosen = inputs.parameters.get(&parameter.name);
            let chosen = chosen.filter(|value| !value.is_null());
            resolver.parameter(index, parameter.clone(), chosen, values)
        })
        .collect();
    Faults::check(resolver.faults)?;
    Ok(Resolved {
        parameters,
        generated: resolver.generated,
    })
}

fn unknown(template: &Template, inputs: &Inputs<'_>) -> Vec<Fault> {
    if inputs.ignore_unknown {
        return Vec::new();
    }
    let known: HashSet<&str> = template.parameters.iter().map(|one| &*one.name).collect();
    let names = inputs.parameters.keys();
    let unknown = names.filter(|name| !known.contains(name.as_str()));
    unknown
        .map(|name| {
            let detail = format!("unknown parameter name {name:?}");
            Fault::invalid(
                Field::new("parameters"),
                &Value::from(name.as_str()),
                detail,
            )
        })
        .collect()
}

struct Resolver {
    dialect: Dialect,
    faults: Vec<Fault>,
    generated: Vec<usize>,
}

impl Resolver {
    fn parameter(
        &mut self,
        index: usize,
        mut parameter: Parameter,
        chosen: Option<&Value>,
        values: &mut dyn Values,
    ) -> Parameter {
        let field = Field::new("parameters").index(index);
        if let Some(chosen) = chosen {
            if self.dialect == Dialect::Proposal && (chosen.is_array() || chosen.is_object()) {
                let detail = format!(
                    "must be text, a number or a boolean (parameter {})",
                    parameter.name
                );
                let fault = Fault::invalid(field.key("value"), chosen, detail);
                self.faults.push(fault);
            }
            parameter.value = text_of(chosen);
            parameter.generate = None;
        }
        if parameter.value.is_empty() && parameter.generate.is_some() {
            match generate(&parameter, &field, values) {
                Ok(value) => {
                    parameter.value = value;
                    self.generated.push(index);
                }
                Err(fault) => {
                    self.faults.push(fault);
                    return parameter;
                }
            }
        }
        self.check(&parameter, &field);
        parameter
    }

    fn check(&mut self, parameter: &Parameter, field: &Field) {
        let Parameter { name, value, .. } = parameter;
        if value.is_empty() {
            if parameter.required {
                self.faults.push(missing(self.dialect, name, field));
            }
            return;
        }
        if let Some(kind) = parameter.kind.filter(|kind| !is_valid(*kind, value)) {
            let detail = format!("must be a valid {} (parameter {name})", kind.as_str());
            let value = Value::from(value.as_str());
            self.faults
                .push(Fault::invalid(field.key("value"), &value, detail));
        }
    }
}

/// Each dialect has its own words.
fn missing(dialect: Dialect, name: &str, field: &Field) -> Fault {
    let detail = format!("parameter {name} is required and must be specified");
    match dialect {
        Dialect::Proposal => Fault::required(field.key("value"), detail),
        Dialect::OpenShift => {
            let field = called(field);
            let detail = format!("{field}: {detail}");
            Fault::required(field, detail)
        }
    }
}

/// As OpenShift writes the field of a parameter.
fn called(field: &Field) -> Field {
    let text = format!("template.{field}");
    field.clone().called(text)
}

fn generate(
    parameter: &Parameter,
    field: &Field,
    values: &mut dyn Values,
) -> Result<String, Fault> {
    let Parameter { name, .. } = parameter;
    let generator = parameter.generate.as_deref().unwrap_or_default();
    if generator != EXPRESSION {
        let detail = format!("Unknown generator name '{generator}' for parameter {name}");
        let value = Value::from(generator);
        return Err(Fault::invalid(called(field), &value, detail));
    }
    if let Some(kept) = values.kept(name).filter(|kept| !kept.is_empty()) {
        return Ok(kept.to_owned());
    }
    let from = parameter.from.as_deref().unwrap_or_default();
    let expression = Expression::parse(from).map_err(|error| {
        let value = Value::from(from);
        Fault::invalid(called(field), &value, format!("{error} (parameter {name})"))
    })?;
    Ok(expression.generate(|bytes| values.random(name, bytes)))
}

fn is_valid(kind: Kind, value: &str) -> bool {
    match kind {
        Kind::String => true,
        Kind::Int => value.parse::<i64>().is_ok(),
        Kind::Bool => matches!(value, "true" | "false"),
        Kind::Base64 => BASE64_STANDARD.decode(value).is_ok(),
    }
}

/// The parameters as they are written in a Template.
pub fn document(parameters: Vec<Parameter>) -> Value {
    let list = parameters.into_iter().map(|parameter| {
        let mut map = Map::new();
        let text = |value: String| Some(Value::from(value)).filter(|text| text != "");
        for (key, value) in [
            ("name", text(parameter.name)),
            ("displayName", parameter.display_name.map(Value::from)),
            ("description", parameter.description.map(Value::from)),
            (
                "type",
                parameter.kind.map(|kind| Value::from(kind.as_str())),
            ),
            ("value", text(parameter.value)),
            ("generate", parameter.generate.map(Value::from)),
            ("from", parameter.from.map(Value::from)),
            ("required", parameter.required.then_some(Value::Bool(true))),
        ] {
            map.extend(value.map(|value| (key.to_owned(), value)));
        }
        Value::Object(map)
    });
    list.collect()
}
