//! From a document to a Template. Finds all that is wrong with its shape.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::detection;
use crate::dialect::Dialect;
use crate::fault::{Fault, Faults};
use crate::field::Field;
use crate::limits;
use crate::parameters::text_of;
use crate::template::{KINDS, Kind, OPENSHIFT, Parameter, Template};

struct Decoder {
    rest: Map<String, Value>,
    faults: Vec<Fault>,
    warnings: Vec<String>,
}

impl Template {
    /// Reads a document: what JSON or YAML gave.
    ///
    /// # Errors
    /// It is not a Template, or not a valid one. All faults are listed.
    pub fn read(document: Value) -> Result<Self, Faults> {
        template(document)
    }
}

fn template(document: Value) -> Result<Template, Faults> {
    let rest = match document {
        Value::Object(map) => map,
        other => {
            let detail = "a Template is a map with 'kind: Template'";
            return Err(Fault::invalid(Field::default(), &other, detail).into());
        }
    };
    let mut decoder = Decoder {
        rest,
        faults: Vec::new(),
        warnings: Vec::new(),
    };
    decoder.check_head();
    let parameters = decoder.parameters();
    let labels = decoder.labels();
    let message = decoder.take_text("message");
    let objects = decoder.objects();
    Faults::check(decoder.faults)?;
    let mut template = Template {
        dialect: Dialect::Proposal,
        parameters,
        labels,
        message,
        objects,
        warnings: decoder.warnings,
        rest: decoder.rest,
    };
    template.dialect = detection::detect(&template)?;
    Ok(template)
}

impl Decoder {
    fn check_head(&mut self) {
        let version = self.rest.get("apiVersion").unwrap_or(&Value::Null);
        let fault = match version.as_str() {
            Some("v1" | OPENSHIFT) => None,
            Some(other) => Some(Fault::unsupported(
                Field::new("apiVersion"),
                other,
                &["v1", OPENSHIFT],
            )),
            None => Some(missing(Field::new("apiVersion"), version, "text")),
        };
        self.faults.extend(fault);
        let kind = self.rest.get("kind").unwrap_or(&Value::Null);
        let fault = match kind.as_str() {
            Some(kind) if KINDS.contains(&kind) => None,
            Some(other) => Some(Fault::unsupported(Field::new("kind"), other, &["Template"])),
            None => Some(missing(Field::new("kind"), kind, "text")),
        };
        self.faults.extend(fault);
        let metadata = self.rest.get("metadata").unwrap_or(&Value::Null);
        if !metadata.is_null() && !metadata.is_object() {
            let fault = Fault::invalid(Field::new("metadata"), metadata, "must be a map");
            self.faults.push(fault);
        }
    }

    /// A list of the document; its place holds null afterwards.
    fn take_list(&mut self, key: &str) -> Option<Vec<Value>> {
        match self.rest.get_mut(key).map(Value::take) {
            None | Some(Value::Null) => None,
            Some(Value::Array(items)) => Some(items),
            Some(other) => {
                let fault = Fault::invalid(Field::new(key), &other, "must be a list");
                self.faults.push(fault);
                Some(Vec::new())
            }
        }
    }

    fn take_text(&mut self, key: &str) -> Option<String> {
        match self.rest.get_mut(key).map(Value::take) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text),
            Some(other) => {
                let fault = Fault::invalid(Field::new(key), &other, "must be text");
                self.faults.push(fault);
                None
            }
        }
    }

    fn objects(&mut self) -> Vec<Value> {
        let field = Field::new("objects");
        let Some(objects) = self.take_list("objects") else {
            self.faults
                .push(Fault::required(field, "a list of Kubernetes objects"));
            return Vec::new();
        };
        for (index, object) in objects.iter().enumerate() {
            if !object.is_object() {
                let detail = "must be a map: a Kubernetes object";
                self.faults
                    .push(Fault::invalid(field.index(index), object, detail));
            }
        }
        objects
    }

    /// `labels`, and the name that the proposal's Go type has for them. `labels` wins.
    fn labels(&mut self) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = Vec::new();
        for key in ["objectLabels", "labels"] {
            let labels = match self.rest.get_mut(key).map(Value::take) {
                None | Some(Value::Null) => continue,
                Some(Value::Object(labels)) => labels,
                Some(other) => {
                    let fault = Fault::invalid(Field::new(key), &other, "must be a map");
                    self.faults.push(fault);
                    continue;
                }
            };
            if !all.is_empty() && !labels.is_empty() {
                let warning = "the Template has 'labels' and 'objectLabels'; they are merged, and 'labels' wins";
                self.warnings.push(warning.to_owned());
            }
            let own: HashSet<&String> = labels.keys().collect();
            all.retain(|(name, _)| !own.contains(name));
            for (name, value) in &labels {
                let field = Field::new(key).key(name);
                if let Some(text) = self.text(value, &field) {
                    all.push((name.clone(), text));
                }
            }
        }
        all
    }

    fn parameters(&mut self) -> Vec<Parameter> {
        let items = self.take_list("parameters").unwrap_or_default();
        let field = Field::new("parameters");
        if items.len() > limits::PARAMETERS {
            let fault = Fault::too_many(field, items.len(), limits::PARAMETERS);
            self.faults.push(fault);
            return Vec::new();
        }
        let mut met: HashSet<String> = HashSet::with_capacity(items.len());
        let mut parameters = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let field = field.index(index);
            let parameter = self.parameter(item, &field);
            if !parameter.name.is_empty() && !met.insert(parameter.name.clone()) {
                let fault = Fault::duplicate(field.key("name"), &parameter.name);
                self.faults.push(fault);
            }
            parameters.push(parameter);
        }
        parameters
    }

    fn parameter(&mut self, item: &Value, field: &Field) -> Parameter {
        let Value::Object(map) = item else {
            let fault = Fault::invalid(field.clone(), item, "must be a map with a 'name'");
            self.faults.push(fault);
            return Parameter::default();
        };
        let mut text = |key: &str| {
            let value = map.get(key).filter(|value| !value.is_null());
            value.and_then(|value| self.text(value, &field.key(key)))
        };
        let name = text("name").unwrap_or_default();
        let (value, kind) = (text("value").unwrap_or_default(), text("type"));
        let parameter = Parameter {
            display_name: text("displayName"),
            description: text("description"),
            generate: text("generate").filter(|name| !name.is_empty()),
            from: text("from"),
            value,
            kind: kind.as_deref().and_then(Kind::parse),
            required: self.flag(map, "required", field),
            name,
        };
        self.check_name(&parameter.name, map.contains_key("name"), field);
        if let Some(kind) = kind.filter(|_| parameter.kind.is_none()) {
            let fault = Fault::unsupported(field.key("type"), &kind, &Kind::NAMES);
            self.faults.push(fault);
        }
        parameter
    }

    /// Text, or a scalar that is written as text, with a warning.
    fn text(&mut self, value: &Value, field: &Field) -> Option<String> {
        match value {
            Value::String(text) => return Some(text.clone()),
            Value::Bool(_) | Value::Number(_) => {
                let text = text_of(value);
                self.warnings
                    .push(format!("{field} is read as the text {text:?}; quote it"));
                return Some(text);
            }
            _ => {}
        }
        self.faults
            .push(Fault::invalid(field.clone(), value, "must be text"));
        None
    }

    fn flag(&mut self, map: &Map<String, Value>, key: &str, field: &Field) -> bool {
        match map.get(key) {
            None | Some(Value::Null) => false,
            Some(Value::Bool(flag)) => *flag,
            Some(other) => {
                let fault = Fault::invalid(field.key(key), other, "must be true or false");
                self.faults.push(fault);
                false
            }
        }
    }

    fn check_name(&mut self, name: &str, is_stated: bool, field: &Field) {
        let field = field.key("name");
        if name.is_empty() {
            if !is_stated || self.faults.last().is_none_or(|fault| fault.field != field) {
                self.faults.push(Fault::required(field, ""));
            }
        } else if !is_name(name) {
            let detail = "does not match ^[a-zA-Z0-9_]+$";
            self.faults
                .push(Fault::invalid(field, &Value::from(name), detail));
        }
    }
}

/// The same characters as in a reference.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn missing(field: Field, found: &Value, wanted: &str) -> Fault {
    match found {
        Value::Null => Fault::required(field, ""),
        other => Fault::invalid(field, other, format!("must be {wanted}")),
    }
}
