//! The objects that templates see of an instance and of its binding.

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha224};

/// Characters of a name that is kept as it is.
const NAME_CHARS: usize = 253;
const VERSION: &str = "osb.servicefabrik.io/v1alpha1";

/// What is known of an instance and its binding. Absent values are absent in the objects, too.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The name of the instance's object; that of its id if there is none.
    pub name: Option<String>,
    /// Where its objects are.
    pub namespace: String,
    /// The id that the platform chose.
    pub instance_id: String,
    /// Of the instance.
    pub service_id: String,
    /// Of the instance.
    pub plan_id: String,
    /// `parameters`, `context`, `previousValues`, `organizationGuid`, `spaceGuid`, `clusterId`: further keys of its
    /// specification.
    pub instance: Map<String, Value>,
    /// The state of the operation: `in_queue`, `update`, `delete`.
    pub state: String,
    /// The binding, if it is about one.
    pub binding: Option<BindingFacts>,
}

/// What is known of a binding.
#[derive(Clone, Debug, Default)]
pub struct BindingFacts {
    /// The id that the platform chose.
    pub id: String,
    /// `parameters`, `context`, `bindResource`, `appGuid`, `acceptsIncomplete`: further keys of its specification.
    pub spec: Map<String, Value>,
}

/// The objects of an instance and its binding.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The SFServiceInstance.
    pub instance: Value,
    /// The SFServiceBinding, if it is about one.
    pub binding: Option<Value>,
}

impl Facts {
    /// The objects.
    #[must_use]
    pub fn subject(&self) -> Subject {
        let own = object_name(&self.instance_id);
        let name = self.name.clone().unwrap_or(own);
        let mut instance = json!({
            "apiVersion": VERSION,
            "kind": "SFServiceInstance",
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": {"instanceId": self.instance_id, "serviceId": self.service_id, "planId": self.plan_id},
            "status": {"state": self.instance_state()},
        });
        extend(&mut instance["spec"], &self.instance);
        let binding = self.binding.as_ref().map(|binding| {
            let mut object = json!({
                "apiVersion": VERSION,
                "kind": "SFServiceBinding",
                "metadata": {"name": object_name(&binding.id), "namespace": self.namespace},
                "spec": {
                    "id": binding.id, "instanceId": name,
                    "serviceId": self.service_id, "planId": self.plan_id,
                },
                "status": {"state": self.state},
            });
            extend(&mut object["spec"], &binding.spec);
            object
        });
        Subject { instance, binding }
    }

    /// Only a ready instance is bound.
    fn instance_state(&self) -> &str {
        match &self.binding {
            Some(_) => "succeeded",
            None => &self.state,
        }
    }
}

impl Subject {
    /// The name of the object that the operation is about.
    #[must_use]
    pub fn name(&self) -> &str {
        let object = self.binding.as_ref().unwrap_or(&self.instance);
        object["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// The name of the release of a chart: the same one that templates compute.
    #[must_use]
    pub fn release(&self) -> String {
        format!("in-{}", expandybird_sprig::adler32(self.name().as_bytes()))
    }
}

/// The name of the object of an id: the id, or its digest if no object can have this name.
#[must_use]
pub fn object_name(id: &str) -> String {
    if is_subdomain(id) {
        return id.to_owned();
    }
    let digest = Sha224::digest(id.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn is_subdomain(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_label = |label: &str| {
        let ends_well = !label.starts_with('-') && !label.ends_with('-');
        !label.is_empty() && ends_well && label.bytes().all(is_inner)
    };
    name.len() <= NAME_CHARS && name.split('.').all(is_label)
}

fn extend(target: &mut Value, further: &Map<String, Value>) {
    let Some(target) = target.as_object_mut() else {
        return;
    };
    let stated = further.iter().filter(|(_, value)| !value.is_null());
    target.extend(stated.map(|(key, value)| (key.clone(), value.clone())));
}
