//! Requests to resourcifier and its answers.
//!
//! The answer to a write is a stream of [`Event`]s, one JSON document per line. The last event is a report or an error.

pub mod job;
pub mod review;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::job::Fence;
use self::review::ResourceAttributes;
use super::error::ErrorBody;
use crate::model::{
    AppliedObject, ChartPath, ConflictPolicy, CreatePolicy, DeletePolicy, DeploymentName,
    HookEvent, Identity, Namespace, ObjectRef, Output, Predecessor, Resource, ResourceName,
    TypeName, UpdatePolicy,
};

/// The media type of a stream of events.
pub const EVENT_STREAM: &str = "application/x-ndjson";

/// `POST /configurations` (create) and `PUT /configurations` (update).
///
/// Both make the cluster match `resources`, so each can be repeated. The difference: a create has nothing to prune.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApplyRequest {
    /// Names the label and the field manager of each object.
    pub deployment: DeploymentName,
    /// The namespace of namespaced objects that name none.
    pub namespace: Namespace,
    /// The desired primitives.
    pub resources: Vec<Resource>,
    /// The recorded objects of this deployment. Those that are no longer desired are pruned.
    #[serde(default)]
    pub recorded: Vec<AppliedObject>,
    /// Default: the policies of the resources.
    #[serde(default)]
    pub policies: Policies,
    /// The state of the objects when the caller looked (a preview). If one of them has changed since, nothing is
    /// applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<Basis>,
    /// Whether to leave acquired objects in the cluster instead of deleting them, and to give fields that were taken
    /// their former values. Used when a write is undone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restore_acquired: bool,
    /// Whether a namespace may be deleted together with objects of others in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_deletes: bool,
    /// Whether the namespace is created if it is missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub create_namespace: bool,
    /// Whether all objects are dry-run on the API server before the first of them is written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub preflight: bool,
    /// The outputs of the configuration. Their references are replaced when all resources are ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Output>,
    /// The hooks to run. Without it, none runs, and their objects stay as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<Hooks>,
    /// The tool that managed the objects before. When all objects are ready, its field managers lose the fields of those
    /// that are the deployment's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predecessor: Option<Predecessor>,
    /// The user to impersonate in requests to the cluster. Absent without authentication: then resourcifier uses its
    /// own identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<Identity>,
    /// The deadline of the whole write, including readiness, in milliseconds.
    pub timeout_ms: u64,
    /// The operation and its number that this write belongs to. Absent in reads and in manual requests: such a job
    /// writes for as long as its caller reads the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<Fence>,
}

/// The hooks that a write runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hooks {
    /// Decides which events run: an upgrade runs `pre-upgrade` and `post-upgrade`, or `pre-install` and `post-install`
    /// for a chart that is new.
    pub occasion: Occasion,
    /// The charts that were applied before. For every other chart, an upgrade or a rollback is an installation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub installed: Vec<ChartPath>,
    /// The hooks that the operation has run to their end. They do not run again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub done: Vec<DoneHook>,
}

/// A hook that has run at an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DoneHook {
    /// The event at which it ran. A hook of several events may run at another one later.
    pub event: HookEvent,
    /// The object that it created.
    pub object: ObjectRef,
}

/// Why hooks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Occasion {
    /// A create or an update.
    Upgrade,
    /// The restoration of an earlier manifest.
    Rollback,
    /// Only the hooks run. Nothing else is applied, and nothing is pruned.
    Test,
}

/// The hooks that a deletion runs before and after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeleteHooks {
    /// All resources of the deployment, because hooks may refer to them.
    pub resources: Vec<Resource>,
    /// As in [`Hooks`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub done: Vec<DoneHook>,
}

/// The run of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HookRun {
    /// The event that runs it in this write.
    pub event: HookEvent,
    /// Whether its delete policies ask for the deletion of its object now. The write itself leaves it, so that an
    /// interrupted operation finds it.
    pub remove: bool,
}

/// The policies of a whole request. Each overrides that of every resource.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Policies {
    /// Absent: each resource decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub create: Option<CreatePolicy>,
    /// Absent: each resource decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<UpdatePolicy>,
    /// Absent: each resource decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete: Option<DeletePolicy>,
    /// Absent: each resource decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<ConflictPolicy>,
}

/// The state of one object at an earlier time, limited to what the deployment owns of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Basis {
    /// The object, whether it existed or not.
    pub object: ObjectRef,
    /// Absent if there was no such object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// `sha256:<hex>` over the fields that the deployment owns, with their values. Changes of other fields do not
    /// change it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owned: Option<String>,
}

/// What a write would do to an object.
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
    /// There is no such object.
    Create,
    /// Some fields differ.
    Update,
    /// Delete the object and create it again, because a field cannot be changed.
    Replace,
    /// It is not desired any more.
    Delete,
    /// Take an existing object that belongs to no deployment into this one.
    Acquire,
    /// Leave the object in the cluster and remove it from the record.
    Abandon,
    /// The object is as desired.
    None,
}

/// One field that differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FieldChange {
    /// Written as in references: `spec.containers[0].image`. A key that is not an identifier is written as `['a.b/c']`.
    pub path: String,
    /// The old value. Absent if the field did not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// The new value. Absent if the field is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

/// What a write would do to one resource, or to one object to prune.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceDiff {
    /// The resource. For an object to prune, the resource that it was applied for.
    pub name: ResourceName,
    /// A kind, because only primitives are compared.
    #[serde(rename = "type")]
    pub type_name: TypeName,
    /// What the write would do to its object.
    pub intent: ResourceIntent,
    /// The present state of the object.
    pub basis: Basis,
    /// The API server's dry run finds them. They are in the order of the object's fields, and never contain values of
    /// Secrets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FieldChange>,
    /// References whose values are known only after the write. The fields that hold them are not compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// Permissions that the caller lacks for this change. The error says it in a sentence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_permissions: Vec<ResourceAttributes>,
    /// Why the change would fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
}

/// What a whole write would do: every desired resource in its order, then the objects to prune.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DiffReport {
    /// No resource is left out: one without changes has the intent `NONE`.
    pub resources: Vec<ResourceDiff>,
}

/// The answer of `POST /configurations/check` to a valid [`ApplyRequest`]. Nothing is applied.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckResponse {
    /// The object of each resource, in the order of the resources.
    pub objects: Vec<ObjectRef>,
    /// The dependencies, sorted by the resource that waits, then by the resource that it waits for.
    #[serde(default)]
    pub edges: Vec<Edge>,
}

/// One resource waits for another. Both are indices of resources, because names are not unique.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Edge {
    /// The index of the resource that waits.
    pub resource: usize,
    /// The index of the resource that it waits for.
    pub on: usize,
    /// Whether the other resource must be ready, or must only exist and have the value that is referred to.
    pub ready: bool,
    /// One reason, although there may be more.
    pub because: EdgeReason,
    /// The part of the resource that makes it wait: the reference, or the field of its object that names the other.
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
    /// The other resource creates the namespace or the kind of this object.
    Host,
    /// The object uses the other one: a pod uses its config map, a binding uses its role.
    Use,
    /// The order of a chart: definitions, hooks before, objects, hooks after.
    Hook,
}

/// `DELETE /configurations`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeleteRequest {
    /// The owner of the objects.
    pub deployment: DeploymentName,
    /// The namespace of resources that name none, in `unconfirmed` and `hooks`.
    pub namespace: Namespace,
    /// The recorded objects. Each is deleted if its UID is still the recorded one.
    pub recorded: Vec<AppliedObject>,
    /// Objects that an interrupted apply may have left without a record. One is deleted only if its labels say that it
    /// belongs to this deployment.
    #[serde(default)]
    pub unconfirmed: Vec<Resource>,
    /// Objects that are not deleted, although they are in `unconfirmed`: a later apply handles them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<ObjectRef>,
    /// The hooks to run before and after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<DeleteHooks>,
    /// Overrides the policy of every resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete_policy: Option<DeletePolicy>,
    /// Whether to leave acquired objects in the cluster instead of deleting them, and to give fields that were taken
    /// their former values. Used when a write is undone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restore_acquired: bool,
    /// Whether a namespace may be deleted together with objects of others in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_deletes: bool,
    /// The user to impersonate in requests to the cluster. Absent without authentication: then resourcifier uses its
    /// own identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<Identity>,
    /// The deadline of the whole deletion, in milliseconds. It includes the wait until the objects are gone.
    pub timeout_ms: u64,
    /// As in [`ApplyRequest`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<Fence>,
}

/// `POST /configurations/status`: the live state of recorded objects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusRequest {
    /// The deployment of the objects: with it, one list request reads many of them. Without it, they are read one by
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment: Option<DeploymentName>,
    /// The answer has the same order.
    pub objects: Vec<AppliedObject>,
    /// The desired state of the objects. Without it, drift is not reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired: Option<DesiredState>,
    /// The user to impersonate in requests to the cluster. Absent without authentication: then resourcifier uses its
    /// own identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<Identity>,
}

/// The desired state of a deployment, for the comparison with the live objects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DesiredState {
    /// Names the label and the field manager of each object.
    pub deployment: DeploymentName,
    /// The namespace of namespaced objects that name none.
    pub namespace: Namespace,
    /// The primitives of the latest manifest.
    pub resources: Vec<Resource>,
    /// The policies of the write that applied them. With `conflict: YIELD`, fields of other managers are no drift.
    #[serde(default)]
    pub policies: Policies,
}

/// The present state of one recorded object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectStatus {
    /// The record, as in the request.
    #[serde(flatten)]
    pub applied: AppliedObject,
    /// What the cluster says about it now.
    pub state: ObjectState,
    /// Why the object is not ready, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Fields of the deployment that others have changed: `before` is the live value, `after` the desired one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drift: Vec<FieldChange>,
}

/// What the cluster says about a recorded object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ObjectState {
    /// It does its work. Each kind has its own rule.
    Ready,
    /// It exists, and `reason` says what it waits for.
    NotReady,
    /// It failed, and waiting does not make it ready.
    Failed,
    /// There is no object of this name.
    Missing,
    /// There is an object of this name, but with another UID.
    Replaced,
}

/// One line of the answer to a write: a JSON document with the field `event`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "event", rename_all = "camelCase")]
#[expect(
    clippy::large_enum_variant,
    reason = "events are handled one by one, and most are of the largest kind"
)]
pub enum Event {
    /// The state of a resource, or of an object to prune, has changed.
    Resource(ResourceReport),
    /// The work continues without news. Sent so often that silence means a broken connection.
    Heartbeat,
    /// A job with a fence asks for a sign of life. Answer it with a [`job::Renewal`].
    Beat {
        /// Counted from 0. Each later beat has a higher number.
        beat: u64,
    },
    /// The last event: the work has ended, with or without failures.
    Report(Report),
    /// The last event of `POST /configurations/diff`, which takes an [`ApplyRequest`] and changes nothing.
    Diff(DiffReport),
    /// The last event: the request as a whole failed.
    Error {
        /// The body that the answer would have had.
        error: ErrorBody,
    },
}

/// The state of one resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceReport {
    /// The resource. For an object to prune, the resource that it was applied for.
    pub name: ResourceName,
    /// A kind, because only primitives are applied.
    #[serde(rename = "type")]
    pub type_name: TypeName,
    /// Absent until the object is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectRef>,
    /// The UID from the API server. Absent until the object exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// What was done to the object. Absent until something was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// How far the work on its object is.
    pub state: ResourceState,
    /// What the resource waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Set when the state is `FAILED`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
    /// The properties with their references replaced, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_properties: Option<Value>,
    /// Set for a hook that the write runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<HookRun>,
}

/// What a write did to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Action {
    /// The object did not exist before.
    Created,
    /// Fields of an existing object were changed.
    Configured,
    /// The object was as desired. Nothing was written.
    Unchanged,
    /// The cluster has accepted the deletion. Finalizers may delay its end.
    Deleted,
    /// Left in the cluster and removed from the record.
    Abandoned,
}

/// How far the work on a resource is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ResourceState {
    /// It waits for other resources, or for its turn.
    Pending,
    /// Exists in the cluster, and is not ready yet.
    Applied,
    /// It does its work. Each kind has its own rule.
    Ready,
    /// The cluster has accepted the deletion, and the object is still there.
    Deleting,
    /// Deleted, or no longer part of the deployment.
    Gone,
    /// It cannot become ready. `error` says why.
    Failed,
    /// Not tried, because a resource that it depends on failed.
    Skipped,
}

/// The result of a write.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Every desired resource in its order, then the objects that were pruned or deleted.
    pub resources: Vec<ResourceReport>,
    /// The new record: all objects that the deployment now has, including those that could not be pruned.
    pub objects: Vec<AppliedObject>,
    /// The outputs of the request with their values, if all resources are ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Output>,
    /// An error for each output whose value did not appear in time. Such an output is not in `outputs`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_errors: Vec<ErrorBody>,
    /// The job was stopped before its end. `objects` and `resources` have what it did until then.
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
