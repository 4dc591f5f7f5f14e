//! What Deployment Manager writes on every object: to whom it belongs, and what a later deletion must know.
//!
//! Only the object's own metadata is touched: never a selector, never a pod template.

use common::model::{DeletePolicy, DeploymentName, ResourceName};
use serde_json::{Map, Value, json};

/// What all labels and annotations of ours begin with.
pub const PREFIX: &str = "deployment-manager.dev/";
/// The label that says to which deployment an object belongs: the mark of ownership, and a selector for people.
pub const DEPLOYMENT: &str = "deployment-manager.dev/deployment";
/// The annotation with the resource's name, which may be any text.
pub const RESOURCE: &str = "deployment-manager.dev/resource";
/// The annotation with the delete policy, where it is not the default.
pub const DELETE_POLICY: &str = "deployment-manager.dev/delete-policy";
/// The annotation with the wave, where it is not the first: deletion goes backwards through the waves.
pub const WAVE: &str = "deployment-manager.dev/wave";
/// The annotation of an object that was there before the deployment: what was taken from it (`apply/acquired.rs`).
pub const ACQUIRED: &str = "deployment-manager.dev/acquired";
/// Kubernetes' recommended label, put on where the user set none.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
pub const MANAGER: &str = "deployment-manager";

/// The field manager of a deployment.
pub fn field_manager(deployment: &DeploymentName) -> String {
    format!("dm-{deployment}")
}

/// The marks of one object.
#[derive(Debug, Clone, Copy)]
pub struct Mark<'a> {
    pub deployment: &'a DeploymentName,
    pub resource: &'a ResourceName,
    pub wave: usize,
    pub delete_policy: DeletePolicy,
}

impl Mark<'_> {
    /// The object with the marks. Its `metadata` is a map.
    pub fn put_on(self, mut object: Value) -> Value {
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
}

/// Adds to a map of the metadata. `plan::object` has refused whatever is neither absent nor a map.
fn extend(object: &mut Value, section: &str, entries: impl FnOnce(&mut Map<String, Value>)) {
    let section = &mut object["metadata"][section];
    let mut map = section.as_object().cloned().unwrap_or_default();
    entries(&mut map);
    *section = Value::Object(map);
}
