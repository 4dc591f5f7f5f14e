//! What resourcifier is asked and answers.
//!
//! A write answers with a stream of [`Event`]s, one JSON document a line; the last is a report or an error.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::ErrorBody;
use crate::model::{
    AppliedObject, DeletePolicy, DeploymentName, Namespace, ObjectRef, Resource, ResourceName,
    TypeName,
};

/// The media type of a stream of events.
pub const EVENT_STREAM: &str = "application/x-ndjson";

/// `POST /configurations` (create) and `PUT /configurations` (update).
///
/// Both converge on `resources`, so each can be repeated; they differ in that a create has nothing to prune.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApplyRequest {
    pub deployment: DeploymentName,
    /// Where namespaced objects go that name no namespace.
    pub namespace: Namespace,
    /// The desired primitives.
    pub resources: Vec<Resource>,
    /// What is known to exist of this deployment; what is not desired any more is pruned.
    #[serde(default)]
    pub recorded: Vec<AppliedObject>,
    /// Time for all of it, readiness included, in milliseconds.
    pub timeout_ms: u64,
}

/// What `POST /configurations/check` answers to an [`ApplyRequest`] that can be planned; nothing is applied.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckResponse {
    /// The object that each resource becomes, in the order of the resources.
    pub objects: Vec<ObjectRef>,
}

/// `DELETE /configurations`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeleteRequest {
    pub deployment: DeploymentName,
    pub namespace: Namespace,
    /// What is known to exist; deleted if its UID is still the recorded one.
    pub recorded: Vec<AppliedObject>,
    /// What an interrupted apply may have left without a record; deleted only where the object says that it belongs to this deployment.
    #[serde(default)]
    pub unconfirmed: Vec<Resource>,
    /// Overrides the policy of every resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete_policy: Option<DeletePolicy>,
    pub timeout_ms: u64,
}

/// `POST /configurations/status`: the live state of recorded objects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusRequest {
    pub objects: Vec<AppliedObject>,
}

/// One recorded object as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectStatus {
    #[serde(flatten)]
    pub applied: AppliedObject,
    pub state: ObjectState,
    /// Why it is not ready, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ObjectState {
    Ready,
    NotReady,
    /// It failed and cannot become ready by waiting.
    Failed,
    Missing,
    /// An object of this name is there, but with another UID.
    Replaced,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "camelCase")]
#[expect(
    clippy::large_enum_variant,
    reason = "events are handled one by one, and most are of the largest kind"
)]
pub enum Event {
    /// A resource, or an object to prune, got somewhere.
    Resource(ResourceReport),
    /// Nothing new, but the work goes on. Sent so often that silence means a broken connection.
    Heartbeat,
    /// The last event: the work is done, with or without failures.
    Report(Report),
    /// The last event: the work could not be done as a whole.
    Error { error: ErrorBody },
}

/// How one resource stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceReport {
    pub name: ResourceName,
    #[serde(rename = "type")]
    pub type_name: TypeName,
    /// Absent until the object is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// What was done to it; absent until something was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    pub state: ResourceState,
    /// What it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Set when the state is `FAILED`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
    /// The properties with their references replaced, where there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_properties: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Action {
    Created,
    Configured,
    Unchanged,
    Deleted,
    /// Left in the cluster and forgotten.
    Abandoned,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ResourceState {
    Pending,
    /// In the cluster, not ready yet.
    Applied,
    Ready,
    Deleting,
    /// Gone, or no longer ours.
    Gone,
    Failed,
    /// Not attempted, because something that it depends on failed.
    Skipped,
}

/// The end of a write.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Every desired resource in its order, then what was pruned or deleted.
    pub resources: Vec<ResourceReport>,
    /// The new record: all that now exists of the deployment, what could not be pruned included.
    pub objects: Vec<AppliedObject>,
}

impl Report {
    /// The error of each resource that failed.
    pub fn errors(&self) -> impl Iterator<Item = &ErrorBody> {
        self.resources
            .iter()
            .filter_map(|resource| resource.error.as_ref())
    }
}
