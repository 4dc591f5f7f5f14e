//! Files of Kubernetes objects: several documents per file, `List`s, YAML or JSON.
//!
//! Recognises texts with objects, reads the objects with their locations, and names each object as a resource
//! ([`named`]). It does not know what the objects mean.

mod broker_config;
mod error;
mod names;
mod object;
mod plan;
mod template_object;

use serde_json::Value;

use crate::yaml::{self, Document, Duplicates, Limits};

pub use broker_config::{is_broker_config, is_broker_config_document};
pub use error::{ManifestError, ObjectLocation};
pub use names::named;
pub use object::Object;
pub use plan::{is_plan, read_plan};
pub use template_object::{is_template, is_template_object, read_template_object};

/// The endings of files that hold objects.
pub const ENDINGS: [&str; 3] = [".yaml", ".yml", ".json"];

/// Whether documents are Kubernetes objects: one of them has `apiVersion` and `kind`, and is not a configuration.
pub fn recognises(documents: &[Document]) -> bool {
    let states = |value: &Value, key: &str| value.get(key).is_some_and(Value::is_string);
    documents.iter().any(|Document { value, .. }| {
        states(value, "apiVersion") && states(value, "kind") && value.get("resources").is_none()
    })
}

/// Whether a text holds Kubernetes objects. A text that is not YAML does not.
pub fn is_manifests(text: &str) -> bool {
    yaml::read_all(text, &Limits::DEFAULT, Duplicates::Warn)
        .is_ok_and(|documents| recognises(&documents))
}

/// The objects of a text, in their order. `file` is its name in errors.
///
/// # Errors
/// The text is not YAML, or one of its documents is not an object.
pub fn read(file: &str, text: &str) -> Result<Vec<Object>, ManifestError> {
    let documents = yaml::read_all(text, &Limits::DEFAULT, Duplicates::Error);
    let documents = documents.map_err(|source| ManifestError::Yaml {
        file: file.to_owned(),
        source: Box::new(source),
    })?;
    objects(file, documents)
}

/// The objects of parsed documents. An object in a `List` is like an object of its own.
///
/// # Errors
/// One of the documents is neither empty nor an object.
pub fn objects(file: &str, documents: Vec<Document>) -> Result<Vec<Object>, ManifestError> {
    let mut found = Vec::new();
    for (index, document) in documents.into_iter().enumerate() {
        let place = ObjectLocation {
            file: file.to_owned(),
            line: document.location.line,
            pointer: yaml::Pointer::new(index, ""),
        };
        if !document.value.is_null() {
            unfold(document.value, place, &mut found)?;
        }
    }
    Ok(found)
}

/// The recursion is as deep as the YAML, whose depth is limited.
///
/// # Errors
/// It is no object.
pub fn unfold(
    value: Value,
    place: ObjectLocation,
    found: &mut Vec<Object>,
) -> Result<(), ManifestError> {
    match list(value) {
        Err(value) => {
            let object = Object::new(value, place.clone())
                .map_err(|reason| ManifestError::Object { place, reason })?;
            found.push(object);
            Ok(())
        }
        Ok(items) => items.into_iter().enumerate().try_for_each(|(index, item)| {
            let mut place = place.clone();
            place.pointer.path.push_str(&format!("/items/{index}"));
            unfold(item, place, found)
        }),
    }
}

/// The items of a `List` (or `ConfigMapList`, …), else the value itself.
fn list(mut value: Value) -> Result<Vec<Value>, Value> {
    let kind = value.get("kind").and_then(Value::as_str);
    if !kind.is_some_and(|kind| kind.ends_with("List")) {
        return Err(value);
    }
    match value.get_mut("items").map(Value::take) {
        Some(Value::Array(items)) => Ok(items),
        Some(other) => {
            value["items"] = other;
            Err(value)
        }
        None => Err(value),
    }
}

#[cfg(test)]
mod tests;
