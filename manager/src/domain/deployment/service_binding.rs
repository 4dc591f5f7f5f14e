//! Deployments that are service bindings: their outputs are credentials, which only the broker gives out.

use common::model::{DeploymentName, Output, SecretValue};
use common::redact::REDACTED;
use serde_json::{Map, Value};

/// Whether it is one, by what its templates see in `env`.
pub fn is_one(environment: &Map<String, Value>) -> bool {
    environment.contains_key("binding_id")
}

/// The deployment of its instance.
pub fn instance(environment: &Map<String, Value>) -> Option<DeploymentName> {
    let name = environment.get("instance_deployment")?.as_str()?;
    DeploymentName::parse(name).ok()
}

/// The outputs as secrets of the expansion.
pub fn secrets(outputs: &[Output]) -> Vec<SecretValue> {
    let secrets = outputs.iter().map(|output| SecretValue {
        path: Default::default(),
        pointer: String::new(),
        value: output.value.clone(),
    });
    secrets.collect()
}

/// The outputs as callers of the manager see them.
pub fn hide(outputs: &mut [Output]) {
    for output in outputs {
        output.value = Value::String(REDACTED.to_owned());
    }
}
