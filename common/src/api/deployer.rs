//! What resourcifier is asked and answers.
//!
//! A write answers with a stream of [`Event`]s, one JSON document a line; the last is a report or an error.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::ErrorBody;
use super::job::Fence;
use super::review::Access;
use crate::model::{
    AppliedObject, ConflictPolicy, CreatePolicy, DeletePolicy, DeploymentName, Identity, Namespace,
    ObjectRef, Output, Resource, ResourceName, TypeName, UpdatePolicy,
};

/// The media type of a stream of events.
pub const EVENT_STREAM: &str = "application/x-ndjson";

/// `POST /configurations` (create) and `PUT /configurations` (update).
///
/// Both converge on `resources`, so each can be repeated; they differ in that a create has nothing to prune.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
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
    #[serde(default)]
    pub policies: Policies,
    /// How the objects were when the caller looked (a preview): if one of them has changed since, nothing is applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<Basis>,
    /// Whether objects that were there before the deployment, and were acquired, are left in the cluster instead of deleted, with
    /// the former values of the fields that were taken: for a way back from what was done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restore_acquired: bool,
    /// Whether a namespace may be deleted though others have objects in it, which go with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_deletes: bool,
    /// The configuration's outputs: what they refer to is put in once all is ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Output>,
    /// In whose name the cluster is asked and written; absent where nobody is authenticated: then it is resourcifier's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<Identity>,
    /// Time for all of it, readiness included, in milliseconds.
    pub timeout_ms: u64,
    /// Under which take of an operation it is written. Absent where nothing is written, and in a request by hand: such a
    /// job writes for as long as its caller reads the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<Fence>,
}

/// Policies of a whole request: each overrides that of every resource.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Policies {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub create: Option<CreatePolicy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<UpdatePolicy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete: Option<DeletePolicy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<ConflictPolicy>,
}

/// How an object was when somebody looked at it, as far as it is the deployment's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Basis {
    pub object: ObjectRef,
    /// Absent: there was no such object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// `sha256:<hex>` over the fields that the deployment owns, with their values: changes of others leave it as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owned: Option<String>,
}

/// What would be done to an object.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ResourceIntent {
    Create,
    Update,
    /// Deleted and made anew, as a field cannot be changed.
    Replace,
    Delete,
    /// An object that is there and belongs to nobody becomes the deployment's.
    Acquire,
    /// Left in the cluster and forgotten.
    Abandon,
    None,
}

/// One field that differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FieldChange {
    /// As in references: `spec.containers[0].image`; a key that is no identifier stands as `['a.b/c']`.
    pub path: String,
    /// Absent: there is no such field before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// Absent: there is no such field afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

/// What a write would do to one resource, or to one object to prune.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceDiff {
    pub name: ResourceName,
    #[serde(rename = "type")]
    pub type_name: TypeName,
    pub intent: ResourceIntent,
    /// How the object is now.
    pub basis: Basis,
    /// By the API server's own dry run, in the order of the object's fields; values of Secrets are never in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FieldChange>,
    /// References whose values are known only once it is applied: the fields that hold them are not compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// What the caller may not do of what it takes; the error says it in a sentence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_permissions: Vec<Access>,
    /// Why it would fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
}

/// What a whole write would do: every desired resource in its order, then what would be pruned.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DiffReport {
    pub resources: Vec<ResourceDiff>,
}

/// What `POST /configurations/check` answers to an [`ApplyRequest`] that can be planned; nothing is applied.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckResponse {
    /// The object that each resource becomes, in the order of the resources.
    pub objects: Vec<ObjectRef>,
    /// What waits for what, by the resource that waits, then by the one that it waits for.
    #[serde(default)]
    pub edges: Vec<Edge>,
}

/// One resource waits for another; both are named by their place among the resources, for names may be borne twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Edge {
    pub resource: usize,
    pub on: usize,
    /// Whether the other must be ready, or only be there and have the value that is referred to.
    pub ready: bool,
    pub because: EdgeReason,
    /// What of the resource makes it wait: the reference, or the place of its object that names the other.
    pub detail: String,
}

/// Why one resource waits for another.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum EdgeReason {
    /// `metadata.dependsOn` names it.
    DependsOn,
    /// A `$(ref.…)` needs a value of it.
    Reference,
    /// The object is in the namespace, or of the kind, that the other makes.
    Host,
    /// The object uses the other: a pod its config map, a binding its role.
    Use,
}

/// `DELETE /configurations`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeleteRequest {
    pub deployment: DeploymentName,
    pub namespace: Namespace,
    /// What is known to exist; deleted if its UID is still the recorded one.
    pub recorded: Vec<AppliedObject>,
    /// What an interrupted apply may have left without a record; deleted only where the object says that it belongs to this deployment.
    #[serde(default)]
    pub unconfirmed: Vec<Resource>,
    /// Objects that stay, although they are among the unconfirmed: a later apply has taken care of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<ObjectRef>,
    /// Overrides the policy of every resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete_policy: Option<DeletePolicy>,
    /// Whether objects that were there before the deployment, and were acquired, are left in the cluster instead of deleted, with
    /// the former values of the fields that were taken: for a way back from what was done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restore_acquired: bool,
    /// Whether a namespace may be deleted though others have objects in it, which go with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_deletes: bool,
    /// In whose name the cluster is asked and written; absent where nobody is authenticated: then it is resourcifier's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<Identity>,
    pub timeout_ms: u64,
    /// As of an [`ApplyRequest`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<Fence>,
}

/// `POST /configurations/status`: the live state of recorded objects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusRequest {
    /// Whose objects they are: many of them are then read by one list. One by one, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment: Option<DeploymentName>,
    pub objects: Vec<AppliedObject>,
    /// What they should be: without it, drift is not looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired: Option<DesiredState>,
    /// In whose name the cluster is asked and written; absent where nobody is authenticated: then it is resourcifier's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<Identity>,
}

/// What a deployment asks for, to compare the live objects with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DesiredState {
    pub deployment: DeploymentName,
    pub namespace: Namespace,
    pub resources: Vec<Resource>,
    #[serde(default)]
    pub policies: Policies,
}

/// One recorded object as it is now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectStatus {
    #[serde(flatten)]
    pub applied: AppliedObject,
    pub state: ObjectState,
    /// Why it is not ready, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Fields of ours that others have changed: `before` is the live value, `after` what is asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drift: Vec<FieldChange>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
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
    /// A job with a fence asks for a sign of life: answer it with a [`super::job::Renewal`].
    Beat { beat: u64 },
    /// The last event: the work is done, with or without failures.
    Report(Report),
    /// The last event of `POST /configurations/diff`, which takes an [`ApplyRequest`] and changes nothing.
    Diff(DiffReport),
    /// The last event: the work could not be done as a whole.
    Error { error: ErrorBody },
}

/// How one resource stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Action {
    Created,
    Configured,
    Unchanged,
    Deleted,
    /// Left in the cluster and forgotten.
    Abandoned,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Every desired resource in its order, then what was pruned or deleted.
    pub resources: Vec<ResourceReport>,
    /// The new record: all that now exists of the deployment, what could not be pruned included.
    pub objects: Vec<AppliedObject>,
    /// The request's outputs with their values, if all resources are ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Output>,
    /// Each output whose value did not appear in time; it is not among `outputs`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_errors: Vec<ErrorBody>,
    /// The job was stopped before all was done. What it did until then is in `objects` and `resources`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
}

impl Report {
    /// The error of each resource that failed, then of each output without a value.
    pub fn errors(&self) -> impl Iterator<Item = &ErrorBody> {
        self.resources
            .iter()
            .filter_map(|resource| resource.error.as_ref())
            .chain(&self.output_errors)
    }
}
