//! The port to the cluster: what the service asks for, and what each call promises.
//!
//! Promises of every adapter, tested by one conformance suite (`tests/kubectl.rs`):
//! - A call ends within its `within`, and its answer has a maximum size.
//! - Calls may run at the same time. The adapter limits their number, and delays all of them when the cluster asks for
//! it.
//! - Each call without a [`Precondition`] can be repeated: applying or deleting again is a success.
//! - A [`Precondition`] is checked by the API server in the transaction that writes. If it does not hold, the error is
//! [`ObjectFault::Changed`], and nothing was written.
//! - No error contains the values of a Secret.
//! - A write passes the [`Gate`] directly before it is sent, and reports its answer to the gate.
//!
//! - Objects are only accessed for a user: [`Cluster::acting_for`] sets the user, and the API server checks that user's
//! permissions. Requests of the service itself ([`Cluster`]) do not concern objects.
//!
//! The port does not know deployments, waves or readiness.

mod address;
mod brake;
mod caller;
mod discovery;
mod error;
mod events;
mod folder;
mod forbidden;
mod gate;
mod objects;
mod parent;
mod process;
mod proxy;
mod redact;
mod request;
mod review;
mod session;
mod status;
mod through_proxy;
mod versions;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use common::api::review::{Access, AccessVerdict, TokenReview, TokenVerdict};
use common::model::{Identity, ObjectRef};
use futures::stream::BoxStream;
use serde_json::Value;

pub use address::{ServedKind, is_segment, object_ref};
pub use caller::Caller;
pub use error::{Cause, KubectlError, ObjectError, ObjectFault};
pub use forbidden::remedy;
pub use gate::{Gate, Halt, Pass};
pub use parent::{NOT_RUN, become_program};
pub use session::Settings;
pub use through_proxy::ThroughProxy;

/// The result for each of several objects, in the order of the request.
pub type Outcomes<T> = Vec<Result<T, KubectlError>>;

/// The changes of objects, as they happen.
pub type Watch = BoxStream<'static, Result<Change, KubectlError>>;

/// Requests of the service itself: about the cluster and about users, not about objects.
#[async_trait]
pub trait Cluster: Send + Sync {
    /// Fails only if kubectl itself cannot be run.
    async fn versions(&self, within: Duration) -> Result<Versions, KubectlError>;

    /// Every kind that the cluster serves, in the version that it prefers.
    async fn kinds(&self) -> Result<Vec<ServedKind>, KubectlError>;

    /// The kinds of one version of a group. Empty if the version is not served.
    async fn kinds_of(&self, api_version: &str) -> Result<Vec<ServedKind>, KubectlError>;

    /// The user of a token. An unknown token is a valid answer, not an error.
    async fn review_token(
        &self,
        review: &TokenReview,
        within: Duration,
    ) -> Result<TokenVerdict, KubectlError>;

    /// Whether a user may do something.
    async fn review_access(
        &self,
        identity: &Identity,
        access: &Access,
        within: Duration,
    ) -> Result<AccessVerdict, KubectlError>;

    /// Access to the objects as the caller and through the gate: each write passes the gate, and a closing gate cancels
    /// waiting reads.
    fn acting_for(self: Arc<Self>, caller: Caller, gate: Arc<Gate>) -> Arc<dyn Kubectl>;
}

/// The objects of the cluster that one caller has access to.
#[async_trait]
pub trait Kubectl: Send + Sync {
    /// The user to impersonate. `None` for the service itself.
    fn caller(&self) -> Option<&Identity>;

    /// Whether the caller may do something.
    async fn may(&self, access: &Access, within: Duration) -> Result<AccessVerdict, KubectlError>;

    /// The live object. `None` if it does not exist.
    async fn get(
        &self,
        object: &ObjectRef,
        within: Duration,
    ) -> Result<Option<Value>, KubectlError>;

    /// One page of the objects of a kind. An expired page token is a transient error: start again.
    async fn list(
        &self,
        query: Query<'_>,
        page: PageRequest<'_>,
        within: Duration,
    ) -> Result<Page, KubectlError>;

    /// The changes after the version of a list. The stream ends by itself, at the latest after `within`. Then list
    /// again.
    async fn watch(
        &self,
        query: Query<'_>,
        version: &str,
        within: Duration,
    ) -> Result<Watch, KubectlError>;

    /// Server-side apply. Returns the object after it, or the expected object for a `dry_run`.
    async fn apply(
        &self,
        object: &Value,
        options: ApplyOptions<'_>,
        within: Duration,
    ) -> Result<Value, KubectlError>;

    /// Whether the object could be created if its name were not in use. A dry run of a create under the same name tries
    /// defaults, validation and admission: the API server checks the name last. An error says why the create would
    /// fail.
    async fn try_create(
        &self,
        object: &Value,
        manager: &str,
        within: Duration,
    ) -> Result<(), KubectlError>;

    /// Requests deletion and does not wait for it.
    async fn delete(
        &self,
        object: &ObjectRef,
        options: DeleteOptions<'_>,
        within: Duration,
    ) -> Result<Deletion, KubectlError>;

    /// JSON merge patch (RFC 7386) of an object. Returns the object after it, or `None` if it does not exist.
    async fn patch(
        &self,
        object: &ObjectRef,
        patch: &Value,
        options: PatchOptions<'_>,
        within: Duration,
    ) -> Result<Option<Value>, KubectlError>;

    /// The last lines of a container's log, at most about 64 KiB.
    async fn log(&self, log: Log<'_>, within: Duration) -> Result<String, KubectlError>;

    /// The latest events about an object, the newest last. `uid` distinguishes it from other objects of the same name.
    async fn events(
        &self,
        object: &ObjectRef,
        uid: Option<&str>,
        within: Duration,
    ) -> Result<Vec<ObjectEvent>, KubectlError>;
}

/// The versions of kubectl and the API server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versions {
    pub client: String,
    /// The API server's version, or why it is not known.
    pub server: Result<String, String>,
    /// Set if the two versions are further apart than Kubernetes supports.
    pub skew: Option<String>,
}

/// Which objects of a kind to read.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    pub kind: &'a ServedKind,
    /// The namespace. Default: all namespaces.
    pub namespace: Option<&'a str>,
    /// A label selector: `key=value,other=value`.
    pub selector: Option<&'a str>,
    /// Only `apiVersion`, `kind` and `metadata`.
    pub metadata_only: bool,
}

/// A page of a list.
#[derive(Debug, Clone, Copy)]
pub struct PageRequest<'a> {
    /// The maximum number of objects. An adapter may return fewer if they are large.
    pub limit: usize,
    /// [`Page::next`] of the previous page.
    pub after: Option<&'a str>,
}

/// A page of a list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    pub items: Vec<Value>,
    /// The token of the next page. `None` on the last page.
    pub next: Option<String>,
    /// The version from which to watch.
    pub version: String,
}

/// One change of a watched object.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// It is new or has changed. This is its present state.
    Is(Value),
    /// It is deleted. This was its last state.
    Gone(Value),
}

impl Change {
    pub fn object(&self) -> &Value {
        match self {
            Self::Is(object) | Self::Gone(object) => object,
        }
    }
}

/// How an object is applied.
#[derive(Debug, Clone, Copy)]
pub struct ApplyOptions<'a> {
    /// The field manager that owns the fields after the write.
    pub manager: &'a str,
    /// Whether to take fields from other managers. If not, such fields are an [`ObjectFault::Conflict`].
    pub force: bool,
    /// Checks defaults, admission and conflicts, and writes nothing.
    pub dry_run: bool,
    pub precondition: Precondition<'a>,
}

/// The condition that the API server checks when it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precondition<'a> {
    /// No condition.
    None,
    /// No object has the name: the write creates the object or fails.
    Absent,
    /// The object is the one that was read, and has not changed since.
    Unchanged { uid: &'a str, version: &'a str },
}

/// How an object is patched.
#[derive(Debug, Clone, Copy)]
pub struct PatchOptions<'a> {
    /// The field manager that owns the changed fields after the write.
    pub manager: &'a str,
    /// Never [`Precondition::Absent`]: a patch creates nothing.
    pub precondition: Precondition<'a>,
}

/// How an object is deleted.
#[derive(Debug, Clone, Copy)]
pub struct DeleteOptions<'a> {
    /// Deletes only the object with this UID.
    pub uid: Option<&'a str>,
    /// Deletes only an object with this `resourceVersion`: it has not changed since it was read.
    pub version: Option<&'a str>,
    pub cascade: Cascade,
}

/// How the dependants of an object are deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cascade {
    /// The object stays until its dependants are deleted.
    Foreground,
    /// The object is deleted immediately. For kinds without dependants.
    Background,
}

/// The result of a request to delete an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    /// It is deleted.
    Gone,
    /// It is being deleted: immediately, or after its finalizers.
    Asked,
    /// There is no such object.
    Missing,
    /// Another object has its name. That object was not changed.
    Replaced,
    /// It has changed since it was read, and was not deleted.
    Changed,
}

/// Which lines of a log to read.
#[derive(Debug, Clone, Copy)]
pub struct Log<'a> {
    pub namespace: &'a str,
    pub pod: &'a str,
    pub container: &'a str,
    pub lines: usize,
    /// From the container before its last restart.
    pub previous: bool,
}

/// What the cluster noted about an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectEvent {
    pub warning: bool,
    pub reason: String,
    pub message: String,
    /// How often it happened.
    pub count: u64,
    /// When it happened last, as the cluster writes times; empty if it does not say.
    pub at: String,
}
