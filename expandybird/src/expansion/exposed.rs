//! What the objects of a Template expose, as the outputs of its instance.

use std::collections::BTreeSet;

use common::api::error::ErrorCode;
use common::model::{Import, Output};
use expandybird_templateobject::exposed;
use serde_json::Value;

use super::tree::{Body, Node};
use crate::engine::EngineError;

/// The exposed values, in the order of the objects.
///
/// # Errors
/// An annotation cannot be read, or two expose the same key.
pub fn outputs(template: &Import, nodes: &[Node]) -> Result<Vec<Output>, EngineError> {
    let failed = |message: String| EngineError {
        file: Some(template.path().to_owned()),
        ..EngineError::new(ErrorCode::InvalidConfiguration, message)
    };
    let (mut outputs, mut known) = (Vec::new(), BTreeSet::new());
    for node in nodes {
        let Body::Primitive(Some(object)) = &node.body else {
            continue;
        };
        let found = exposed(object, node.name.as_str());
        for one in found.map_err(|error| failed(format!("{}: {error}", node.name)))? {
            if !known.insert(one.key.clone()) {
                let message = format!(
                    "{}: credential with key {:?} already exists; give the annotation another name",
                    node.name, one.key
                );
                return Err(failed(message));
            }
            outputs.push(Output {
                name: one.key,
                value: Value::from(one.value),
            });
        }
    }
    Ok(outputs)
}
