//! Instances and bindings as deployments: names, namespaces, labels and configurations.

use std::collections::BTreeMap;

use common::model::{DeploymentName, Namespace, OperationId};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::Context;
use crate::catalog::{Plan, Template, merged};
use crate::error::BrokerError;
use crate::options::NAMESPACE;
use crate::port::{Placement, Write};
use crate::record::{Binding, Instance, Kind, Operation, Progress, Target};

/// The name of an instance's resource in its deployment.
pub const INSTANCE_RESOURCE: &str = "instance";
/// The name of a binding's resource in its deployment.
pub const BINDING_RESOURCE: &str = "binding";
/// The labels of deployments: the ids of their instance, binding and plan.
pub const INSTANCE_LABEL: &str = "broker-instance";
pub const BINDING_LABEL: &str = "broker-binding";
pub const PLAN_LABEL: &str = "broker-plan";
/// How the namespaces of the Inter-operator begin.
const OWN_NAMESPACE: &str = "sf-";
/// How names of bindings begin. No instance gets such a name.
const BINDING: &str = "bind-";
/// Hexadecimal digits of a digest in a name.
const DIGITS: usize = 40;
/// The maximum length of a label's value. A longer id is not a label.
const LABEL_CHARS: usize = 253;

/// `osb-ID`, or a digest if the id does not fit into a name.
pub fn instance_name(id: &str) -> Result<DeploymentName, BrokerError> {
    let kept = match id.starts_with(BINDING) {
        true => None,
        false => DeploymentName::parse(format!("osb-{id}")).ok(),
    };
    kept.map_or_else(|| hashed("osb-", id), Ok)
}

/// Platforms may give bindings of two instances the same id, so it is always a digest of both ids.
pub fn binding_name(instance: &str, id: &str) -> Result<DeploymentName, BrokerError> {
    hashed("osb-bind-", &json!([instance, id]).to_string())
}

fn hashed(prefix: &str, text: &str) -> Result<DeploymentName, BrokerError> {
    let digest = Sha256::digest(text.as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    DeploymentName::parse(format!("{prefix}{}", &hex[..DIGITS]))
        .map_err(|error| BrokerError::new(500, error.to_string()))
}

/// The plan's namespace, else that of the platform's context, else the broker's own. An instance of the Inter-operator has
/// a namespace of its own otherwise.
pub fn namespace(
    id: &str,
    plan: &Plan,
    context: &Map<String, Value>,
    own: Option<&Namespace>,
) -> Result<Namespace, BrokerError> {
    if let Some(namespace) = &plan.namespace {
        return Ok(namespace.clone());
    }
    let named = context.get("namespace").and_then(Value::as_str);
    if let (None, Some(own)) = (named, own) {
        return Ok(own.clone());
    }
    if let (None, Some(_)) = (named, &plan.interoperator) {
        return own_namespace(id);
    }
    Namespace::parse(named.unwrap_or(NAMESPACE))
        .map_err(|error| BrokerError::invalid(format!("context.namespace: {error}")))
}

/// `sf-ID`, or a digest if the id does not fit.
fn own_namespace(id: &str) -> Result<Namespace, BrokerError> {
    let digest = || {
        let digest = Sha256::digest(id.as_bytes());
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Namespace::parse(format!("{OWN_NAMESPACE}{}", &hex[..DIGITS]))
    };
    let kept = Namespace::parse(format!("{OWN_NAMESPACE}{id}"));
    kept.or_else(|_| digest())
        .map_err(|error| BrokerError::new(500, error.to_string()))
}

/// A new operation that is about to begin.
pub fn operation(id: OperationId, kind: Kind, request: String, context: &Context) -> Operation {
    Operation {
        id,
        kind,
        request,
        progress: Progress::InProgress,
        started: Timestamp::now(),
        ended: None,
        caller: context.caller.clone(),
    }
}

/// The write that makes an instance what the target says.
pub fn instance_write(instance: &Instance, target: &Target, plan: &Plan) -> Write {
    let properties = merged(
        &plan.template.properties,
        &plan.parameter_map,
        &target.parameters,
    );
    let labels = labels([
        (INSTANCE_LABEL, &instance.id),
        ("broker-service", &target.service_id),
        (PLAN_LABEL, &target.plan_id),
    ]);
    let is_own = own_namespace(&instance.id).is_ok_and(|own| own == instance.namespace);
    let own = (plan.interoperator.is_some() && is_own).then_some(&instance.namespace);
    Write {
        operation: instance.operation.id.clone(),
        is_new: instance.operation.kind == Kind::Create,
        deployment: instance.deployment.clone(),
        namespace: instance.namespace.clone(),
        description: "A service instance. Change and delete it with its platform.".to_owned(),
        labels,
        content: Some(content(INSTANCE_RESOURCE, &plan.template, properties, own)),
        imports: plan.template.imports.clone(),
        caller: instance.operation.caller.clone(),
        placement: plan.interoperator.as_ref().map(|plan| Placement {
            has_selector: plan.has_selector,
            requests: plan.requests.clone(),
            of_plans: BTreeMap::new(),
        }),
        beside: None,
    }
}

/// The write that makes a binding.
pub fn binding_write(binding: &Binding, template: &Template) -> Write {
    let map = BTreeMap::new();
    let properties = merged(&template.properties, &map, &binding.target.parameters);
    let labels = labels([
        (INSTANCE_LABEL, &binding.instance),
        (BINDING_LABEL, &binding.id),
        ("broker-service", &binding.target.service_id),
        (PLAN_LABEL, &binding.target.plan_id),
    ]);
    Write {
        operation: binding.operation.id.clone(),
        is_new: true,
        deployment: binding.deployment.clone(),
        namespace: binding.namespace.clone(),
        description: "A service binding. Delete it with its platform.".to_owned(),
        labels,
        content: Some(content(BINDING_RESOURCE, template, properties, None)),
        imports: template.imports.clone(),
        caller: binding.operation.caller.clone(),
        placement: None,
        beside: binding.instance_deployment.clone(),
    }
}

/// The write that takes back what a binding edited. Its templates see that it is deleted.
pub fn release_write(binding: &Binding, operation: OperationId) -> Write {
    Write {
        operation,
        is_new: false,
        deployment: binding.deployment.clone(),
        namespace: binding.namespace.clone(),
        description: String::new(),
        labels: BTreeMap::new(),
        content: None,
        imports: Vec::new(),
        caller: binding.operation.caller.clone(),
        placement: None,
        beside: None,
    }
}

/// A configuration with one resource. It has the outputs of this resource, because it says none itself.
/// It makes the instance's own namespace, if there is one.
fn content(
    name: &str,
    template: &Template,
    properties: Map<String, Value>,
    own: Option<&Namespace>,
) -> String {
    let resource = json!({"name": name, "type": template.type_name, "properties": properties});
    let namespace = own.map(|own| {
        json!({"name": "namespace", "type": "Namespace", "properties": {"metadata": {"name": own}}})
    });
    let resources: Vec<_> = std::iter::once(resource).chain(namespace).collect();
    json!({"resources": resources}).to_string()
}

fn labels<const N: usize>(labels: [(&str, &String); N]) -> BTreeMap<String, String> {
    let fits =
        |value: &str| value.chars().count() <= LABEL_CHARS && !value.chars().any(char::is_control);
    let labels = labels.into_iter().filter(|(_, value)| fits(value));
    labels
        .map(|(key, value)| (key.to_owned(), value.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_fits_is_kept_in_the_name_and_others_are_hashed() {
        assert_eq!(instance_name("i-1").unwrap().as_str(), "osb-i-1");
        for id in ["bind-x", "A", "a/b", "a b", "ä", &"x".repeat(60)] {
            let name = instance_name(id).unwrap();
            assert_eq!(name.as_str().len(), "osb-".len() + DIGITS, "{id}: {name}");
        }
        let names = [("a", "b"), ("a", "c"), ("b", "b"), ("a\",\"b", "")];
        let names = names.map(|(instance, id)| binding_name(instance, id).unwrap());
        let different: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(different.len(), names.len());
    }
}
