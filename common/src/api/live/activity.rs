//! What happens around the objects of a deployment: the cluster's events, and the logs of containers. Both are read with
//! the rights of the caller.

use serde::{Deserialize, Serialize};

use crate::api::error::ErrorBody;
use crate::model::{AppliedObject, DeploymentName, Identity, ObjectRef, ResourceName};

/// The events that one answer has, if the request does not say.
pub const EVENTS: usize = 100;
/// The most events that one answer has.
pub const EVENTS_MAX: usize = 1_000;
/// The lines of each container, if the request does not say.
pub const TAIL: usize = 100;
/// The most lines of each container.
pub const TAIL_MAX: usize = 10_000;

/// The query of `GET /deployments/{d}/events`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EventsQuery {
    /// Only events about the objects of this resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<ResourceName>,
    /// The newest events, at most 1,000. Default: 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
}

/// The answer of `GET /deployments/{d}/events`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ClusterEvents {
    /// The newest last.
    pub items: Vec<ClusterEvent>,
    /// What could not be read, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// What the cluster noted about an object of the deployment, or about an object that the cluster made of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterEvent {
    /// The resource that the object belongs to.
    pub resource: ResourceName,
    /// May be an object that the resource's object owns, such as a pod of a Deployment.
    pub object: ObjectRef,
    /// As the cluster classifies it.
    #[serde(rename = "type")]
    pub kind: EventKind,
    /// In one word, such as `FailedScheduling`.
    pub reason: String,
    /// In a sentence, with the values of secrets replaced.
    pub message: String,
    /// How often it happened.
    pub count: u64,
    /// When it happened last, as the cluster writes times. Absent if the cluster does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_time: Option<String>,
}

/// How the cluster classifies an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum EventKind {
    /// Something that is expected, such as a start.
    Normal,
    /// Something that may be a fault.
    Warning,
}

/// The query of `GET /deployments/{d}/logs`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LogsQuery {
    /// Only the pods of this resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<ResourceName>,
    /// Only containers of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// `true`: from each container before its last restart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<bool>,
    /// `true`: goes on with new lines and new pods, for an hour at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow: Option<bool>,
    /// The last lines of each container, at most 10,000. Default: 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<usize>,
}

/// One piece of the answer of `GET /deployments/{d}/logs`, and a line of `POST /configurations/logs`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", tag = "is")]
pub enum LogItem {
    /// The server-sent event `line`.
    Line(LogLine),
    /// The server-sent event `notice`.
    Notice(LogNotice),
    /// The last item, if the work failed.
    Error {
        /// What failed.
        error: ErrorBody,
    },
    /// Nothing is new.
    Heartbeat,
}

impl LogItem {
    /// The names of the server-sent events.
    pub const LINE: &'static str = "line";
    /// The data is a [`LogNotice`].
    pub const NOTICE: &'static str = "notice";
    /// The data is an error body.
    pub const ERROR: &'static str = "error";
}

/// What a container wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogLine {
    /// The resource that the pod belongs to.
    pub resource: ResourceName,
    /// The name of the pod. It is in the namespace of its owner.
    pub pod: String,
    /// Init containers and ephemeral ones have logs, too.
    pub container: String,
    /// When, as the cluster writes times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Without the end of the line. A very long line is clipped, and marked as such.
    pub text: String,
}

/// Why a log is missing, or what happened to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogNotice {
    /// Absent if it is about the whole deployment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<ResourceName>,
    /// Absent if it is about all pods of the resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<String>,
    /// Absent if it is about all containers of the pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// In a sentence.
    pub message: String,
}

/// `POST /configurations/events` of resourcifier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventsRequest {
    /// Its cluster is meant.
    pub deployment: DeploymentName,
    /// The recorded objects. Events of the objects that they own count, too.
    pub objects: Vec<AppliedObject>,
    /// The newest events, from 1 to [`EVENTS_MAX`].
    pub limit: usize,
    /// The user to impersonate in requests to the cluster. Absent without authentication: then resourcifier uses its
    /// own identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<Identity>,
}

/// `POST /configurations/logs` of resourcifier. The answer is a stream of [`LogItem`], one JSON document a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogsRequest {
    /// Its cluster is meant.
    pub deployment: DeploymentName,
    /// The recorded objects. The logs are those of the pods that they own.
    pub objects: Vec<AppliedObject>,
    /// Only containers of this name. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Read the logs of each container before its last restart.
    #[serde(default)]
    pub previous: bool,
    /// Go on with new lines and new pods.
    #[serde(default)]
    pub follow: bool,
    /// The last lines of each container, at most [`TAIL_MAX`].
    pub tail: usize,
    /// As in [`EventsRequest`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<Identity>,
}
