//! Namespaces that a Template of OpenShift fixes: they are removed, so that it can be deployed in any.

use serde_json::{Map, Value};

use crate::reference::openshift;

/// Before substitution: a namespace that refers to a parameter stays.
pub fn strip(object: &mut Map<String, Value>) {
    match object.get_mut("metadata") {
        Some(Value::Object(metadata)) => remove(metadata),
        Some(_) => {}
        None => remove(object),
    }
}

fn remove(map: &mut Map<String, Value>) {
    let Some(namespace) = map.get("namespace") else {
        return;
    };
    if !namespace.as_str().is_some_and(openshift::has_reference) {
        map.shift_remove("namespace");
    }
}
