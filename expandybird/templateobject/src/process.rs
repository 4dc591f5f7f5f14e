//! From a Template and its inputs to objects that can be created.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use crate::ambiguity;
use crate::dialect::Dialect;
use crate::fault::{Fault, Faults};
use crate::field::Field;
use crate::groups;
use crate::inputs::Inputs;
use crate::labels::{self, Labels};
use crate::namespace;
use crate::parameters::{self, Resolved};
use crate::substitute::Substitution;
use crate::template::{Parameter, Template};
use crate::values::Values;

/// A Template with its values in their places.
#[derive(Debug, Clone, PartialEq)]
pub struct Processed {
    pub objects: Vec<Value>,
    /// With the values that were used.
    pub parameters: Vec<Parameter>,
    pub labels: Vec<(String, String)>,
    pub message: Option<String>,
    /// The names of parameters whose values were generated, now or before, and the values.
    pub generated: Vec<(String, String)>,
    pub warnings: Vec<String>,
    rest: Map<String, Value>,
}

/// # Errors
/// Parameters are missing or not valid, or the result is not. All faults of the parameters, else of the objects, are
/// listed.
pub fn process(
    template: Template,
    inputs: &Inputs<'_>,
    values: &mut dyn Values,
) -> Result<Processed, Faults> {
    let resolved = parameters::resolve(&template, inputs, values)?;
    let of_parameters =
        |parameter: &'_ Parameter| (parameter.name.clone(), parameter.value.clone());
    let chosen: HashMap<&str, &str> = (resolved.parameters.iter())
        .map(|one| (&*one.name, &*one.value))
        .collect();
    let mut job = Job {
        dialect: template.dialect,
        substitution: Substitution::new(template.dialect, chosen),
        faults: ambiguous(&template),
    };
    let message = template.message.map(|text| job.substitution.line(&text));
    let labels = Labels {
        all: job.labels(&template.labels, inputs.labels),
        dialect: template.dialect,
        keep_selectors: labels::keeps_selectors(template.rest.get("metadata")),
    };
    let mut objects = template.objects;
    for (index, object) in objects.iter_mut().enumerate() {
        job.object(index, object, &labels);
    }
    if let Some(exceeded) = job.substitution.exceeded() {
        let detail = exceeded.to_string();
        job.faults = vec![Fault::invalid(
            Field::new("objects"),
            &Value::Array(Vec::new()),
            detail,
        )];
    }
    Faults::check(job.faults)?;
    let Resolved {
        parameters,
        generated,
    } = resolved;
    let generated = generated
        .into_iter()
        .map(|index| of_parameters(&parameters[index]));
    Ok(Processed {
        objects,
        generated: generated.collect(),
        parameters,
        labels: labels.all,
        message,
        warnings: template.warnings,
        rest: template.rest,
    })
}

fn ambiguous(template: &Template) -> Vec<Fault> {
    if template.dialect == Dialect::OpenShift {
        return Vec::new();
    }
    let declared: HashSet<&str> = template.parameters.iter().map(|one| &*one.name).collect();
    let mut check = ambiguity::Check {
        declared: &declared,
        faults: Vec::new(),
    };
    for (index, object) in template.objects.iter().enumerate() {
        check.value(object, &Field::new("objects").index(index));
    }
    check.faults
}

struct Job<'p> {
    dialect: Dialect,
    substitution: Substitution<'p>,
    faults: Vec<Fault>,
}

impl Job<'_> {
    /// The caller's win; of two that become the same, the last one counts.
    fn labels(
        &mut self,
        own: &[(String, String)],
        chosen: &[(String, String)],
    ) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for (key, value) in own.iter().chain(chosen) {
            let key = self.substitution.line(key);
            let value = self.substitution.line(value);
            match places.get(&key) {
                Some(&place) => all[place].1 = value,
                None => {
                    places.insert(key.clone(), all.len());
                    all.push((key, value));
                }
            }
        }
        all
    }

    fn object(&mut self, index: usize, object: &mut Value, labels: &Labels) {
        if let (Dialect::OpenShift, Value::Object(map)) = (self.dialect, &mut *object) {
            namespace::strip(map);
        }
        self.substitution.value(object, 1);
        let field = Field::new("objects").index(index);
        let Value::Object(map) = object else {
            return;
        };
        self.check_kind(map, &field);
        if self.dialect == Dialect::OpenShift {
            add_group(map);
        }
        if let Err(reason) = labels.apply(map) {
            let name = match self.dialect {
                Dialect::Proposal => format!("{field}.labels"),
                Dialect::OpenShift => format!("item[{index}].labels"),
            };
            let shown = labels
                .all
                .iter()
                .map(|(key, value)| (key.clone(), json!(value)));
            let shown: Map<String, Value> = shown.collect();
            let field = field.called(name);
            self.faults
                .push(Fault::invalid(field, &Value::Object(shown), reason));
        }
    }

    fn check_kind(&mut self, object: &Map<String, Value>, field: &Field) {
        for key in ["apiVersion", "kind"] {
            let text = object.get(key).and_then(Value::as_str);
            if text.is_none_or(str::is_empty) {
                let detail = "a Kubernetes object states its apiVersion and its kind";
                self.faults.push(Fault::required(field.key(key), detail));
            }
        }
        if is_template(object) {
            let detail = "a Template holds no other Template; deploy each by itself, or use both as types of a configuration";
            let kind = object.get("kind").unwrap_or(&Value::Null);
            self.faults
                .push(Fault::invalid(field.key("kind"), kind, detail));
        }
    }
}

/// Whether an object is a Template, which nothing would process.
fn is_template(object: &Map<String, Value>) -> bool {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    let version = text("apiVersion");
    text("kind") == "Template" && (version == "v1" || version.starts_with("template.openshift.io/"))
}

fn add_group(object: &mut Map<String, Value>) {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    if let Some(version) = groups::with_group(text("apiVersion"), text("kind")) {
        object.insert("apiVersion".to_owned(), Value::from(version));
    }
}

impl Processed {
    /// The Template with what was substituted, as the proposal answers.
    pub fn into_template(self) -> Value {
        let mut document = self.rest;
        document.shift_remove("objectLabels");
        let labels = self.labels.into_iter();
        let labels: Map<String, Value> = labels.map(|(key, value)| (key, value.into())).collect();
        for (key, value) in [
            ("message", self.message.map(Value::from)),
            (
                "labels",
                (!labels.is_empty()).then_some(Value::Object(labels)),
            ),
            (
                "parameters",
                (!self.parameters.is_empty()).then(|| parameters::document(self.parameters)),
            ),
            ("objects", Some(Value::Array(self.objects))),
        ] {
            match value {
                Some(value) => {
                    document.insert(key.to_owned(), value);
                }
                None => {
                    document.shift_remove(key);
                }
            }
        }
        Value::Object(document)
    }

    /// The objects as a List.
    pub fn into_list(self) -> Value {
        json!({"kind": "List", "apiVersion": "v1", "metadata": {}, "items": self.objects})
    }
}
