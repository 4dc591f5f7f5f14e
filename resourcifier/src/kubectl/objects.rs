//! Objects on their way into kubectl and out of it.

use std::collections::HashMap;

use common::model::ObjectRef;
use serde_json::{Value, json};

use super::error::KubectlError;
use super::output;
use super::process::Finished;

/// What identifies an object whatever version it is written in.
pub type Key = (String, String, Option<String>, String);

pub fn key(object: &ObjectRef) -> Key {
    (
        object.group().to_owned(),
        object.kind.clone(),
        object.namespace.clone(),
        object.name.clone(),
    )
}

pub fn by_object(
    call: &'static str,
    finished: &Finished,
) -> Result<HashMap<Key, Value>, KubectlError> {
    let objects = output::objects(&finished.stdout)
        .map_err(|reason| KubectlError::Malformed { call, reason })?;
    Ok(objects
        .into_iter()
        .map(|object| (key(&crate::plan::object_ref(&object)), object))
        .collect())
}

/// As much of an object as kubectl needs to find it.
pub fn stub(object: &ObjectRef) -> Value {
    let mut metadata = json!({"name": object.name});
    if let Some(namespace) = &object.namespace {
        metadata["namespace"] = json!(namespace);
    }
    json!({"apiVersion": object.api_version, "kind": object.kind, "metadata": metadata})
}

pub fn stdin(objects: impl Iterator<Item = Value>) -> Vec<u8> {
    let items: Vec<Value> = objects.collect();
    json!({"apiVersion": "v1", "kind": "List", "items": items})
        .to_string()
        .into_bytes()
}
