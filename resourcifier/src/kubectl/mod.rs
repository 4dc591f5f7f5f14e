//! The port to the cluster: what the service asks for, and what each call promises.
//!
//! Promises of every adapter, held by one conformance suite (`tests/kubectl.rs`):
//! - A call ends within its `within`, and what it answers is bounded.
//! - Calls may run at once; the adapter bounds how many do, and slows all of them down when the cluster says so.
//! - Each call without a [`Precondition`] can be repeated: what is applied or deleted already is a success again.
//! - A [`Precondition`] holds at the write itself: the API server checks it in the transaction that writes. What does not hold
//!   is [`ObjectFault::Changed`], and nothing was written.
//! - No error carries a Secret's values.
//! - A write passes the [`Gate`] right before it is sent, and tells it when it is answered.
//!
//! - Objects are only reached in somebody's name: [`Cluster::acting_for`] says whose, and the API server decides by that one's
//!   rights. What the service asks in its own name ([`Cluster`]) has no objects in it.
//!
//! The port knows nothing of deployments, waves or readiness.

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

/// What became of each of several objects, in the order asked.
pub type Outcomes<T> = Vec<Result<T, KubectlError>>;

/// The objects that change, as they change.
pub type Watch = BoxStream<'static, Result<Change, KubectlError>>;

/// What is asked in the service's own name: what the cluster is, and who others are. No objects.
#[async_trait]
pub trait Cluster: Send + Sync {
    /// Fails only where kubectl itself cannot be run.
    async fn versions(&self, within: Duration) -> Result<Versions, KubectlError>;

    /// Every kind that the cluster serves, in the version that it prefers.
    async fn kinds(&self) -> Result<Vec<ServedKind>, KubectlError>;

    /// The kinds of one version of a group; none if it is not served.
    async fn kinds_of(&self, api_version: &str) -> Result<Vec<ServedKind>, KubectlError>;

    /// Whose the token is. One that the cluster does not know is a verdict, not an error.
    async fn review_token(
        &self,
        review: &TokenReview,
        within: Duration,
    ) -> Result<TokenVerdict, KubectlError>;

    /// Whether somebody may do something.
    async fn review_access(
        &self,
        identity: &Identity,
        access: &Access,
        within: Duration,
    ) -> Result<AccessVerdict, KubectlError>;

    /// The way to the objects, in the caller's name and through the gate: each write passes it, and what waits for an
    /// answer to a read is given up when it closes.
    fn acting_for(self: Arc<Self>, caller: Caller, gate: Arc<Gate>) -> Arc<dyn Kubectl>;
}

/// The objects of the cluster, as far as one caller may reach them.
#[async_trait]
pub trait Kubectl: Send + Sync {
    /// In whose name; `None` for the service itself.
    fn caller(&self) -> Option<&Identity>;

    /// Whether the caller may do something.
    async fn may(&self, access: &Access, within: Duration) -> Result<AccessVerdict, KubectlError>;

    /// The live object; `None` if it does not exist.
    async fn get(
        &self,
        object: &ObjectRef,
        within: Duration,
    ) -> Result<Option<Value>, KubectlError>;

    /// One page of the objects of a kind. A page token that is too old is a transient error: begin again.
    async fn list(
        &self,
        query: Query<'_>,
        page: PageRequest<'_>,
        within: Duration,
    ) -> Result<Page, KubectlError>;

    /// What changes from a list's version on. The stream ends by itself, at the latest after `within`; then list again.
    async fn watch(
        &self,
        query: Query<'_>,
        version: &str,
        within: Duration,
    ) -> Result<Watch, KubectlError>;

    /// Server-side apply; gives the object as it is afterwards, or with `dry_run` as it would be.
    async fn apply(
        &self,
        object: &Value,
        options: ApplyOptions<'_>,
        within: Duration,
    ) -> Result<Value, KubectlError>;

    /// Whether the object could be created if its name were free. Defaults, validation and admission are tried by a dry run
    /// of a create under the same name; the API server looks at the name last. An error says why the create would fail.
    async fn try_create(
        &self,
        object: &Value,
        manager: &str,
        within: Duration,
    ) -> Result<(), KubectlError>;

    /// Asks for deletion and does not wait for it.
    async fn delete(
        &self,
        object: &ObjectRef,
        options: DeleteOptions<'_>,
        within: Duration,
    ) -> Result<Deletion, KubectlError>;

    /// JSON merge patch (RFC 7386) of an object; returns the object as it is afterwards, or `None` if it does not exist.
    async fn patch(
        &self,
        object: &ObjectRef,
        patch: &Value,
        options: PatchOptions<'_>,
        within: Duration,
    ) -> Result<Option<Value>, KubectlError>;

    /// The last lines that a container wrote, at most some 64 KiB of them.
    async fn log(&self, log: Log<'_>, within: Duration) -> Result<String, KubectlError>;

    /// The latest events about an object, the newest last; `uid` tells it from others of its name.
    async fn events(
        &self,
        object: &ObjectRef,
        uid: Option<&str>,
        within: Duration,
    ) -> Result<Vec<ObjectEvent>, KubectlError>;
}

/// The versions that meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versions {
    pub client: String,
    /// The API server's, or why it is not known.
    pub server: Result<String, String>,
    /// Set when the two are further apart than Kubernetes supports.
    pub skew: Option<String>,
}

/// Which objects of a kind to look at.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    pub kind: &'a ServedKind,
    /// Every namespace, if none is named.
    pub namespace: Option<&'a str>,
    /// A label selector, as `key=value,other=value`.
    pub selector: Option<&'a str>,
    /// Only `apiVersion`, `kind` and `metadata`.
    pub metadata_only: bool,
}

/// Which page of a list.
#[derive(Debug, Clone, Copy)]
pub struct PageRequest<'a> {
    /// The most objects; an adapter may give fewer where they are large.
    pub limit: usize,
    /// [`Page::next`] of the page before.
    pub after: Option<&'a str>,
}

/// A part of a list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    pub items: Vec<Value>,
    /// Asks for the next page; `None` on the last.
    pub next: Option<String>,
    /// From where to watch.
    pub version: String,
}

/// One change of a watched object.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// It is new, or looks like this now.
    Is(Value),
    /// It is gone; this is how it looked last.
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
    /// Who owns the fields from now on.
    pub manager: &'a str,
    /// Whether fields are taken from other managers; else that is an [`ObjectFault::Conflict`].
    pub force: bool,
    /// Nothing is written, but all is checked: defaults, admission and conflicts.
    pub dry_run: bool,
    pub precondition: Precondition<'a>,
}

/// What must be so when the API server writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precondition<'a> {
    /// The write goes through in any case.
    None,
    /// No object has the name: the write creates the object or fails.
    Absent,
    /// The object is the one that was read, and nobody has written to it since.
    Unchanged { uid: &'a str, version: &'a str },
}

/// How an object is patched.
#[derive(Debug, Clone, Copy)]
pub struct PatchOptions<'a> {
    /// Who owns the changed fields from now on.
    pub manager: &'a str,
    /// Never [`Precondition::Absent`]: a patch creates nothing.
    pub precondition: Precondition<'a>,
}

/// How an object is deleted.
#[derive(Debug, Clone, Copy)]
pub struct DeleteOptions<'a> {
    /// Only the object with this UID is deleted.
    pub uid: Option<&'a str>,
    /// Only an object with this `resourceVersion` is deleted: nobody has written to it since it was read.
    pub version: Option<&'a str>,
    pub cascade: Cascade,
}

/// How an object's dependants are deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cascade {
    /// The object stays until its dependants are gone: where it is gone, they are.
    Foreground,
    /// The object goes at once. For kinds that own nothing.
    Background,
}

/// What became of the wish to delete an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    /// It is gone.
    Gone,
    /// It goes: at once, or when nothing holds it any more.
    Asked,
    /// There is no such object.
    Missing,
    /// Another object has its name; it was left alone.
    Replaced,
    /// Somebody has written to it since it was read; it was left alone.
    Changed,
}

/// Which lines of a log.
#[derive(Debug, Clone, Copy)]
pub struct Log<'a> {
    pub namespace: &'a str,
    pub pod: &'a str,
    pub container: &'a str,
    pub lines: usize,
    /// Of the container before its last restart.
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
