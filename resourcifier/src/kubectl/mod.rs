//! The port to the cluster: what the service asks for, and what each call promises.
//!
//! Promises of every adapter, tested by one conformance suite (`tests/kubectl/`):
//! - A call ends within its `within`, and its answer has a maximum size.
//! - Calls may run at the same time. The adapter limits their number, and delays all of them when the cluster asks for
//!   it.
//! - Each call without a [`Precondition`] can be repeated: applying or deleting again is a success.
//! - A [`Precondition`] is checked by the API server in the transaction that writes. If it does not hold, the error is
//!   [`ObjectFault::Changed`], and nothing was written.
//! - No error contains the values of a Secret.
//! - A write passes the [`Gate`] directly before it is sent, and reports its answer to the gate.
//!
//! - Objects are only accessed for a user: [`Cluster::acting_for`] sets the user, and the API server checks that user's
//!   permissions. Requests of the service itself ([`Cluster`]) do not concern objects.
//!
//! The port does not know deployments, waves or readiness.

mod adapter;
mod address;
mod caller;
mod calls;
mod error;
mod gate;
mod process;
mod proxy;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use common::api::review::{AccessVerdict, ResourceAttributes, TokenReview, TokenVerdict};
use common::model::{Identity, ObjectRef};
use futures::stream::BoxStream;
use serde_json::Value;

pub use adapter::ThroughProxy;
pub use address::{ServedKind, is_segment, object_ref};
pub use caller::Caller;
pub use calls::{
    ApplyOptions, Cascade, Change, DeleteOptions, Deletion, Log, LogStream, ObjectEvent, Page,
    PageRequest, PatchOptions, Precondition, Query, Versions,
};
pub use error::forbidden::remedy;
pub use error::{Cause, KubectlError, ObjectError, ObjectFault};
pub use gate::{Gate, Halt, Pass};
pub use process::parent::{NOT_RUN, become_program};
pub use proxy::session::Settings;

/// The result for each of several objects, in the order of the request.
pub type Outcomes<T> = Vec<Result<T, KubectlError>>;

/// The changes of objects, as they happen.
pub type Watch = BoxStream<'static, Result<Change, KubectlError>>;

/// The lines of a log, without their ends. A very long line is clipped, and marked as such.
pub type LogLines = BoxStream<'static, Result<String, KubectlError>>;

/// Requests of the service itself: about the cluster and about users, not about objects.
///
/// # Errors
/// The errors of [`KubectlError`] without [`KubectlError::Halted`]. [`KubectlError::is_transient`] says which calls are worth a
/// repetition.
#[async_trait]
pub trait Cluster: Send + Sync {
    /// Fails only if kubectl itself cannot be run.
    async fn versions(&self, within: Duration) -> Result<Versions, KubectlError>;

    /// Every kind that the cluster serves, in the version that it prefers.
    async fn kinds(&self) -> Result<Vec<ServedKind>, KubectlError>;

    /// Every kind in every version that the cluster serves.
    async fn all_kinds(&self) -> Result<Vec<ServedKind>, KubectlError> {
        self.kinds().await
    }

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
        access: &ResourceAttributes,
        within: Duration,
    ) -> Result<AccessVerdict, KubectlError>;

    /// Access to the objects as the caller and through the gate: each write passes the gate, and a closing gate cancels
    /// waiting reads.
    fn acting_for(self: Arc<Self>, caller: Caller, gate: Arc<Gate>) -> Arc<dyn ClusterApi>;
}

/// The objects of the cluster that one caller has access to.
///
/// # Errors
/// - [`KubectlError::Object`]: the API server's own answer. [`ObjectFault`] says which: forbidden, invalid, a conflict, …
/// - [`KubectlError::Halted`]: the gate is closed, so the job must end.
/// - Everything else is about the cluster or kubectl, and not about the object.
///
/// [`KubectlError::is_transient`] says which calls are worth a repetition. After a write that timed out, it is not known whether
/// the object was written: read it.
#[async_trait]
pub trait ClusterApi: Send + Sync {
    /// The user to impersonate. `None` for the service itself.
    fn caller(&self) -> Option<&Identity>;

    /// Whether the caller may do something.
    async fn may(
        &self,
        access: &ResourceAttributes,
        within: Duration,
    ) -> Result<AccessVerdict, KubectlError>;

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

    /// The last lines of a container's log, each behind its time. With `follow`, the stream goes on with new lines until
    /// the container ends. The head of the answer comes within `within`.
    async fn log_lines(
        &self,
        log: LogStream<'_>,
        within: Duration,
    ) -> Result<LogLines, KubectlError>;

    /// The latest events about an object, the newest last. `uid` distinguishes it from other objects of the same name.
    async fn events(
        &self,
        object: &ObjectRef,
        uid: Option<&str>,
        within: Duration,
    ) -> Result<Vec<ObjectEvent>, KubectlError>;
}
