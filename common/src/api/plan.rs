//! What manager and expandybird say to each other about plans of the Inter-operator.
//!
//! A plan sees live objects, which only the manager can fetch. So an expansion first names them, and is repeated with
//! them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::LayoutPath;

/// What an expansion does with the plans in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PlanAction {
    /// Their objects become resources.
    #[default]
    Apply,
    /// They say how far their operation is. The expansion has no resources.
    Status,
    /// They say which clusters they may be in. The expansion has no resources.
    Select,
}

/// The plans in a request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanRequest {
    /// The same for all plans of the expansion.
    pub action: PlanAction,
    /// The live objects that were found for each instance of a plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<PlanSources>,
}

/// The live objects of one instance of a plan, by their keys. One that does not exist is absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanSources {
    /// The instance in the layout.
    pub path: LayoutPath,
    /// By the keys that the plan gave them ([`PlanSource::key`]).
    pub objects: Map<String, Value>,
}

/// What one instance of a plan has to say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanAnswer {
    /// The instance in the layout.
    pub path: LayoutPath,
    /// The live objects that it must see first. The request did not have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wants: Vec<PlanSource>,
    /// With [`PlanAction::Status`], if the request had the objects that it must see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<PlanStatus>,
    /// With [`PlanAction::Select`]: the labels of clusters, as Kubernetes writes a selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// What it changes of live objects that others made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<ObjectEdit>,
}

/// A live object that a plan sees under a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanSource {
    /// What the plan's templates call the object.
    pub key: String,
    /// Which object it is.
    #[serde(flatten)]
    pub object: WantedObject,
}

/// A live object that may not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WantedObject {
    /// As in objects: `v1`, `apps/v1`.
    pub api_version: String,
    /// As in objects: `ConfigMap`.
    pub kind: String,
    /// The name of the object.
    pub name: String,
    /// For a kind with namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

/// A change of a live object, as JSON merge patches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectEdit {
    /// The object to change. It must exist.
    pub object: WantedObject,
    /// The change.
    pub patch: Value,
    /// Takes the change back.
    pub back: Value,
}

/// How far the operation of a plan is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanStatus {
    /// If the plan printed a state that is unknown, [`PlanState::InProgress`].
    pub state: PlanState,
    /// A state that is none of the three, as it was printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// Why it failed. Empty if the plan does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub error: String,
    /// A text for the platform. For a bind, the JSON text with the credentials. Empty if the plan does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub response: String,
    /// Where users look at the instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dashboard_url: Option<String>,
    /// After a failed update or delete: whether the instance can still be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_usable: Option<bool>,
    /// After a failed update: whether it may be tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_repeatable: Option<bool>,
}

/// The state of a plan's operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PlanState {
    /// The manager asks again later.
    #[default]
    InProgress,
    /// The operation is done.
    Succeeded,
    /// The operation cannot succeed any more.
    Failed,
}

/// `POST /configurations/lookup`: live objects with all their values, in the rights of a user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourcesRequest {
    /// The deployment that they are read for.
    pub deployment: crate::model::DeploymentName,
    /// At most [`crate::model::limits::LOOKUP_OBJECTS`].
    pub objects: Vec<WantedObject>,
    /// The user to impersonate. Absent without authentication: then resourcifier uses its own identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<crate::model::Identity>,
}

/// The objects in the order of the request. One that does not exist, that its kind does not serve, or that the user may
/// not read, is null.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LookedUp {
    /// One entry for each object of the request.
    pub objects: Vec<Option<Value>>,
    /// Why some are null although they may exist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// `POST /configurations/edit`: changes live objects that other deployments, or nobody, made. Nothing records them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditRequest {
    /// The deployment that the changes are made for.
    pub deployment: crate::model::DeploymentName,
    /// Only their patches are used.
    pub edits: Vec<ObjectEdit>,
    /// The user to impersonate. Absent without authentication: then resourcifier uses its own identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<crate::model::Identity>,
    /// The operation and its number that this write belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<super::job::Fence>,
}

/// Everything was changed.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Edited {
    /// How many objects were changed.
    pub edited: usize,
}
