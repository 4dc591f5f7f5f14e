//! The labels and annotations of Deployment Manager on every object: its deployment, and what a later deletion needs.
//!
//! They are only in the object's own metadata: never in a selector or a pod template.

use common::model::{DEPLOYMENT_LABEL, DeletePolicy, DeploymentName, ResourceName};
use serde_json::{Map, Value, json};

/// The prefix of all our labels and annotations.
pub const PREFIX: &str = "deployment-manager.dev/";
/// The label with the deployment of an object: the mark of ownership, and a selector for users.
pub const DEPLOYMENT: &str = DEPLOYMENT_LABEL;
/// The annotation with the name of the resource, which may be any text.
pub const RESOURCE: &str = "deployment-manager.dev/resource";
/// The annotation with the delete policy, if it is not the default.
pub const DELETE_POLICY: &str = "deployment-manager.dev/delete-policy";
/// The annotation with the wave, if it is not the first. Deletion visits the waves in reverse.
pub const WAVE: &str = "deployment-manager.dev/wave";
/// The annotation of an object that existed before the deployment: what was taken from it (`apply/object/acquired`).
pub const ACQUIRED: &str = "deployment-manager.dev/acquired";
/// The annotation of the object of a hook: the operation and the event that it runs for.
pub const RUN: &str = "deployment-manager.dev/hook-run";
/// The label of an object that deployments share.
pub const SHARED: &str = "deployment-manager.dev/shared";
/// Such an object has an annotation with this prefix for each deployment that shares it.
pub const SHARED_BY: &str = "shared-by.deployment-manager.dev/";
/// The field manager of objects that deployments share.
pub const SHARED_MANAGER: &str = "deployment-manager-shared";
/// Kubernetes' recommended label. It is added if the user set none.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
pub const MANAGER: &str = "deployment-manager";

/// The field manager of a deployment.
pub fn field_manager(deployment: &DeploymentName) -> String {
    format!("dm-{deployment}")
}

/// The annotation that says that a deployment shares the object.
pub fn shared_by(deployment: &DeploymentName) -> String {
    format!("{SHARED_BY}{deployment}")
}

/// The marks of one object.
#[derive(Debug, Clone, Copy)]
pub struct Mark<'a> {
    pub deployment: &'a DeploymentName,
    pub resource: &'a ResourceName,
    pub wave: usize,
    pub delete_policy: DeletePolicy,
    /// Whether deployments share the object: then it has no owner.
    pub shared: bool,
}

impl Mark<'_> {
    /// The object with the marks. Its `metadata` must be a map.
    pub fn put_on(self, mut object: Value) -> Value {
        if self.shared {
            return self.put_on_shared(object);
        }
        extend(&mut object, "labels", |labels| {
            labels.insert(DEPLOYMENT.to_owned(), json!(self.deployment));
            labels.entry(MANAGED_BY).or_insert_with(|| json!(MANAGER));
        });
        extend(&mut object, "annotations", |annotations| {
            annotations.insert(RESOURCE.to_owned(), json!(self.resource));
            if self.wave > 0 {
                annotations.insert(WAVE.to_owned(), json!(self.wave.to_string()));
            }
            if self.delete_policy == DeletePolicy::Abandon {
                annotations.insert(DELETE_POLICY.to_owned(), json!(self.delete_policy));
            }
        });
        object
    }

    fn put_on_shared(self, mut object: Value) -> Value {
        extend(&mut object, "labels", |labels| {
            labels.insert(SHARED.to_owned(), json!("true"));
            labels.entry(MANAGED_BY).or_insert_with(|| json!(MANAGER));
        });
        extend(&mut object, "annotations", |annotations| {
            annotations.insert(shared_by(self.deployment), json!("true"));
            if self.delete_policy == DeletePolicy::Abandon {
                annotations.insert(DELETE_POLICY.to_owned(), json!(self.delete_policy));
            }
        });
        object
    }
}

/// Adds to a map of the metadata. `plan::object` has rejected values that are neither absent nor a map.
fn extend(object: &mut Value, section: &str, entries: impl FnOnce(&mut Map<String, Value>)) {
    let section = &mut object["metadata"][section];
    let mut map = section.as_object().cloned().unwrap_or_default();
    entries(&mut map);
    *section = Value::Object(map);
}
