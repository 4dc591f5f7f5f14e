//! The port to the cluster: what the service asks of kubectl, and what each call promises.
//!
//! Promises of every adapter: a call ends within its `within`; outcomes come one for each object, in the order asked;
//! an object that neither succeeded nor has an error of its own is told as failed, never left out; no answer or
//! error carries a Secret's values. The port knows nothing of deployments, waves or readiness.

mod command_line;
mod error;
mod objects;
mod output;
mod process;
mod redact;

use std::time::Duration;

use async_trait::async_trait;
use common::model::ObjectRef;
use serde_json::Value;

use crate::plan::ServedKind;

pub use command_line::{CommandLine, Settings};
pub use error::{KubectlError, ObjectError, ObjectFault};

/// What became of each object of a call.
pub type Outcomes<T> = Vec<Result<T, ObjectError>>;

/// How an object's dependants are deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cascade {
    /// The object stays until its dependants are gone: where it is gone, they are.
    Foreground,
    /// The object goes at once. For kinds that own nothing.
    Background,
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

/// Which objects of a kind to read.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    pub kind: &'a ServedKind,
    /// Every namespace, if none is named.
    pub namespace: Option<&'a str>,
    pub name: Option<&'a str>,
    /// A label selector, in kubectl's syntax.
    pub selector: Option<&'a str>,
}

#[async_trait]
pub trait Kubectl: Send + Sync {
    /// Fails only where kubectl itself cannot be run.
    async fn versions(&self, within: Duration) -> Result<Versions, KubectlError>;

    /// Every kind that the cluster serves, in the version that it prefers.
    async fn kinds(&self) -> Result<Vec<ServedKind>, KubectlError>;

    /// The kinds of one version of a group; none if it is not served.
    async fn kinds_of(&self, api_version: &str) -> Result<Vec<ServedKind>, KubectlError>;

    /// The live objects; `None` for what does not exist.
    async fn get(
        &self,
        objects: &[ObjectRef],
        within: Duration,
    ) -> Result<Outcomes<Option<Value>>, KubectlError>;

    /// Server-side apply, in the order given; gives the objects as they are afterwards.
    async fn apply(
        &self,
        manager: &str,
        objects: &[Value],
        within: Duration,
    ) -> Result<Outcomes<Value>, KubectlError>;

    /// Asks for deletion and does not wait for it; what does not exist is a success.
    async fn delete(
        &self,
        objects: &[ObjectRef],
        cascade: Cascade,
        within: Duration,
    ) -> Result<Outcomes<()>, KubectlError>;

    /// Takes labels and annotations off objects.
    async fn unmark(
        &self,
        objects: &[ObjectRef],
        marks: &Marks<'_>,
        within: Duration,
    ) -> Result<(), KubectlError>;

    /// One object, or a list of them; `None` if it does not exist.
    async fn read(&self, query: Query<'_>, within: Duration)
    -> Result<Option<Value>, KubectlError>;
}

/// Keys to take off.
#[derive(Debug, Clone, Copy)]
pub struct Marks<'a> {
    pub labels: &'a [&'a str],
    pub annotations: &'a [&'a str],
}
