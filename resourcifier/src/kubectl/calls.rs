//! The arguments and results of the port's calls.

use serde_json::Value;

use super::ServedKind;

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
    /// Whether to take fields from other managers. If not, such fields are an [`Conflict`](super::ObjectFault::Conflict).
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

/// Which lines of a log to read as a stream.
#[derive(Debug, Clone, Copy)]
pub struct LogStream<'a> {
    pub log: Log<'a>,
    /// Go on with new lines.
    pub follow: bool,
    /// Only lines of this second and later, as the cluster writes times.
    pub since: Option<&'a str>,
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
