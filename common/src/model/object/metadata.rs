//! The `metadata` of a resource: instructions for Deployment Manager, not for Kubernetes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::hook::{ChartPath, Hook};

/// The keys of `metadata` that have a meaning. Other keys stay in the configuration and have no effect.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceMetadata {
    /// Names of resources that must be ready first.
    pub depends_on: Vec<String>,
    /// Default: `CREATE_OR_ACQUIRE`.
    pub create_policy: CreatePolicy,
    /// Default: `DELETE`.
    pub delete_policy: DeletePolicy,
    /// Default: `APPLY`.
    pub update_policy: UpdatePolicy,
    /// Default: `FAIL`.
    pub conflict_policy: ConflictPolicy,
    /// Conditions of other objects, or of its own, without which the resource is not ready.
    pub ready_when: Vec<ReadyCheck>,
    /// When the resource runs, if it is a hook.
    pub hook: Option<Hook>,
    /// The chart that the resource is of, if that has hooks or definitions: they come before and after its others.
    pub chart: ChartPath,
    /// Whether deployments share the object, and change it where that loses nothing. Only CustomResourceDefinitions can
    /// be shared like this.
    pub shared: bool,
    /// Whether deployments share the object, and none of them changes it. The last one deletes it.
    pub singleton: bool,
}

/// A condition of an object: `status.conditions` has this type with this status.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadyCheck {
    /// What reports call it.
    pub name: String,
    /// As in objects: `v1`, `apps/v1`.
    pub api_version: String,
    /// As in objects: `Deployment`.
    pub kind: String,
    /// The resource's own, if the kind has one and none is written.
    #[serde(default)]
    pub namespace: Option<String>,
    /// The name of the object.
    pub object: String,
    /// The `type` of the condition, such as `Available`.
    #[serde(rename = "type")]
    pub condition: String,
    /// The `status` that the condition must have: `True`, `False` or `Unknown`.
    pub status: String,
    /// The resource fails if the condition does not hold so long after it was applied.
    #[serde(default = "a_minute")]
    pub timeout_ms: u64,
}

fn a_minute() -> u64 {
    60_000
}

/// What to do if the object exists already, or does not.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CreatePolicy {
    /// Create the object, or take over one that belongs to no deployment.
    #[default]
    CreateOrAcquire,
    /// Fail if the object exists.
    Create,
    /// Take over the object. Fail if it does not exist.
    Acquire,
}

/// What becomes of the object when it is no longer part of the deployment.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DeletePolicy {
    /// Delete it.
    #[default]
    Delete,
    /// Leave it in the cluster.
    Abandon,
}

/// What to do if a field cannot be changed.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum UpdatePolicy {
    /// The resource fails.
    #[default]
    Apply,
    /// Delete the object and create it again.
    Replace,
}

/// What to do about a field that another field manager owns with another value.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ConflictPolicy {
    /// The resource fails. The error names the other field manager, the field and both values.
    #[default]
    Fail,
    /// The deployment takes the field.
    Take,
    /// The field keeps its value and its owner, such as `replicas` under an autoscaler.
    Yield,
}

/// The tool that managed a deployment's objects before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Predecessor {
    /// Helm 3 or later.
    Helm,
}

impl Predecessor {
    /// The field managers that the tool writes with. Helm takes the name of its program.
    pub const fn field_managers(self) -> &'static [&'static str] {
        match self {
            Self::Helm => &["helm", "helm.exe", "helm3", "helm4"],
        }
    }
}

/// Why a `metadata` cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// It is a text, a number or a list.
    #[error("metadata is not a map")]
    NotAMap,
    /// A key has a value of the wrong kind. The text says which.
    #[error("metadata: {0}")]
    Field(String),
}

impl ResourceMetadata {
    /// Whether the object has no owner, because deployments share it.
    pub fn is_shared(&self) -> bool {
        self.shared || self.singleton
    }

    /// Reads the `metadata` of a resource. Absent or null means the defaults.
    pub fn parse(metadata: Option<&Value>) -> Result<Self, MetadataError> {
        match metadata {
            None | Some(Value::Null) => Ok(Self::default()),
            Some(Value::Object(map)) => Self::from_map(map),
            Some(_) => Err(MetadataError::NotAMap),
        }
    }

    fn from_map(map: &Map<String, Value>) -> Result<Self, MetadataError> {
        Self::deserialize(map).map_err(|error| MetadataError::Field(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn absent_metadata_means_the_defaults() {
        assert_eq!(
            ResourceMetadata::parse(None),
            Ok(ResourceMetadata::default())
        );
    }

    #[test]
    fn policies_and_dependencies_are_read_and_other_keys_ignored() {
        let metadata = json!({"dependsOn": ["db"], "deletePolicy": "ABANDON", "owner": "me"});
        let read = ResourceMetadata::parse(Some(&metadata)).unwrap();
        assert_eq!(read.depends_on, ["db"]);
        assert_eq!(read.delete_policy, DeletePolicy::Abandon);
        assert_eq!(read.create_policy, CreatePolicy::CreateOrAcquire);
    }

    #[test]
    fn an_unknown_policy_is_an_error_that_names_the_choices() {
        let error = ResourceMetadata::parse(Some(&json!({"createPolicy": "MAYBE"}))).unwrap_err();
        assert!(error.to_string().contains("CREATE_OR_ACQUIRE"), "{error}");
    }
}
