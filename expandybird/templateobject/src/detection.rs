//! How one dialect is distinguished from the other.

use std::collections::HashSet;

use serde_json::Value;

use crate::dialect::Dialect;
use crate::fault::{Fault, Faults};
use crate::field::Field;
use crate::reference::{openshift, proposal};
use crate::template::{OPENSHIFT, Template};

/// The annotation that chooses a dialect.
pub const ANNOTATION: &str = "deployment-manager.dev/template-dialect";

/// In this order: the annotation, the API group, the fields, the references.
pub fn detect(template: &Template) -> Result<Dialect, Faults> {
    if let Some(name) = template.annotation(ANNOTATION) {
        return named(name);
    }
    let version = template.rest.get("apiVersion").and_then(Value::as_str);
    if version == Some(OPENSHIFT) {
        return Ok(Dialect::OpenShift);
    }
    let (fields, references) = (by_fields(template)?, Used::of(template));
    match (fields, references) {
        (
            Some(Dialect::OpenShift),
            Used {
                openshift: false,
                proposal: true,
            },
        ) => Err(ambiguous(
            "its fields are OpenShift's (generate, from or message), and its references are the proposal's, $(P)",
        )),
        (
            Some(Dialect::Proposal),
            Used {
                openshift: true,
                proposal: false,
            },
        ) => Err(ambiguous(
            "its fields are the proposal's (type or objectLabels), and its references are OpenShift's, ${P}",
        )),
        (Some(dialect), _) => Ok(dialect),
        (
            None,
            Used {
                openshift: true,
                proposal: true,
            },
        ) => Err(ambiguous("it has references of both, $(P) and ${P}")),
        (
            None,
            Used {
                openshift: true, ..
            },
        ) => Ok(Dialect::OpenShift),
        (None, _) => Ok(Dialect::Proposal),
    }
}

fn named(name: &str) -> Result<Dialect, Faults> {
    match name {
        "proposal" => Ok(Dialect::Proposal),
        "openshift" => Ok(Dialect::OpenShift),
        other => Err(Fault::unsupported(field(), other, &Dialect::NAMES).into()),
    }
}

fn field() -> Field {
    let annotations = Field::new("metadata").key("annotations");
    let text = format!("metadata.annotations[{ANNOTATION}]");
    annotations.key(ANNOTATION).called(text)
}

fn ambiguous(why: &str) -> Faults {
    let detail =
        format!("ambiguous dialect: {why}; set the annotation to \"proposal\" or \"openshift\"");
    Fault::required(field(), detail).into()
}

fn by_fields(template: &Template) -> Result<Option<Dialect>, Faults> {
    let mut parameters = template.parameters.iter();
    let is_openshift = template.message.is_some()
        || (parameters.clone()).any(|one| one.generate.is_some() || one.from.is_some());
    let is_proposal =
        template.rest.contains_key("objectLabels") || parameters.any(|one| one.kind.is_some());
    match (is_openshift, is_proposal) {
        (true, true) => Err(ambiguous(
            "it has fields of OpenShift (generate, from or message) and of the proposal (type or objectLabels)",
        )),
        (true, false) => Ok(Some(Dialect::OpenShift)),
        (false, true) => Ok(Some(Dialect::Proposal)),
        (false, false) => Ok(None),
    }
}

/// Which references to declared parameters a Template has.
#[derive(Debug, Default, Clone, Copy)]
struct Used {
    proposal: bool,
    openshift: bool,
}

impl Used {
    fn of(template: &Template) -> Self {
        let declared: HashSet<&str> = template.parameters.iter().map(|one| &*one.name).collect();
        let mut used = Self::default();
        for (key, value) in &template.labels {
            used.text(key, &declared);
            used.text(value, &declared);
        }
        if let Some(text) = &template.message {
            used.text(text, &declared);
        }
        for object in &template.objects {
            used.value(object, &declared);
        }
        used
    }

    fn value(&mut self, value: &Value, declared: &HashSet<&str>) {
        match value {
            Value::String(text) => self.text(text, declared),
            Value::Array(items) => items.iter().for_each(|item| self.value(item, declared)),
            Value::Object(map) => {
                for (key, value) in map {
                    self.text(key, declared);
                    self.value(value, declared);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&mut self, text: &str, declared: &HashSet<&str>) {
        if !text.contains('$') {
            return;
        }
        let is_declared = |name: &str| declared.contains(name);
        self.proposal |= proposal::pieces(text, is_declared).any(|piece| piece.name().is_some());
        self.openshift |= openshift::whole(text).is_some_and(is_declared)
            || openshift::pieces(text, is_declared).any(|piece| piece.name().is_some());
    }
}
