//! Between the server and the process of one session.
//!
//! The server sends [`ToWorker::Open`], the worker answers [`FromWorker::Opened`] (or `Refused`)
//! once it is locked down; then every [`ToWorker::Call`] is answered by `Returned` or `Failed`.
//! A failed call leaves the session usable, except after [`FailureKind::Memory`].

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How deep a template's result may nest: what a JSON reader accepts, less the frame's own levels.
pub const MAX_RESULT_DEPTH: usize = 100;

/// What the server asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToWorker {
    Open(Open),
    Call(Call),
}

/// What all calls of a session share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Open {
    /// Every import of the request: templates, helper modules and texts.
    pub imports: Vec<Import>,
    pub limits: Limits,
    /// What every clock shows, in seconds since 1970 (UTC).
    pub current_time: i64,
    /// Where every source of randomness starts.
    pub seed: u64,
}

/// A file of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Import {
    /// What `context.imports` calls it.
    pub name: String,
    /// Where it lies; decides which helper modules are its neighbours, and names it in errors.
    pub path: String,
    pub content: String,
}

/// What the kernel holds a session to. Wall time is the server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Address space of the process, the interpreter's own some 60 MiB included.
    pub memory_bytes: u64,
    /// Processor time of the session.
    pub cpu_seconds: u64,
    /// Of one result.
    pub output_bytes: usize,
}

/// One instance of a template.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// The `name` of an import.
    pub template: String,
    pub env: Map<String, Value>,
    /// `None` is Python's `None`: the resource has no properties.
    pub properties: Option<Value>,
}

/// What the worker answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum FromWorker {
    Opened(Lockdown),
    /// The kernel cannot enforce enough to run code of strangers, or would not.
    Refused {
        reason: String,
    },
    Returned(Output),
    Failed(Failure),
}

/// What is enforced upon a session's process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lockdown {
    /// The Landlock version in force, if the kernel has Landlock.
    pub landlock_abi: Option<u32>,
    /// Landlock: no file but Python's library, and that read-only.
    pub files: bool,
    /// Landlock: no TCP. A second layer: seccomp refuses sockets as well.
    pub network: bool,
    /// Landlock: no signal beyond itself. A second layer: seccomp refuses signals as well.
    pub signals: bool,
    /// Only the system calls a computing interpreter needs.
    pub seccomp: bool,
    /// No program can give it more rights.
    pub no_new_privileges: bool,
    /// Memory, processor time, files, processes.
    pub resource_limits: bool,
}

impl Lockdown {
    /// What a hermetic session cannot do without and this one lacks, in words.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        [
            (self.files, "file rules (Landlock, Linux 5.13 or later)"),
            (self.seccomp, "system call filters (seccomp)"),
            (self.no_new_privileges, "no_new_privs"),
            (self.resource_limits, "resource limits"),
        ]
        .into_iter()
        .filter_map(|(enforced, what)| (!enforced).then_some(what))
        .collect()
    }
}

/// What a template returned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    pub result: TemplateResult,
    /// The beginning of what the template printed; empty for most.
    pub printed: String,
}

/// Templates return YAML text or the data itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TemplateResult {
    Text(String),
    Data(Value),
}

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    pub kind: FailureKind,
    /// The exception's class, such as `KeyError`.
    pub exception: String,
    pub message: String,
    /// Outermost first; the template's and its helpers' only.
    pub frames: Vec<Frame>,
    /// What to change, where that is known (Python 2 idioms).
    pub hint: Option<String>,
}

/// What a failure means to the one who asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FailureKind {
    /// The template raised, or is no valid Python.
    Raised,
    /// The template tried what no template may: a file, a socket, a process.
    Forbidden,
    /// The template imports what is neither in the set for templates nor among the imports.
    Import,
    /// The template has no `GenerateConfig`.
    MissingFunction,
    /// The result is no JSON.
    InvalidResult,
    Memory,
    /// The result, or what was printed beside it.
    OutputTooLarge,
}

/// A line of a template on the way to its failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Frame {
    pub file: String,
    pub line: u32,
    /// Counted from 1.
    pub column: Option<u32>,
    /// `<module>` outside of functions.
    pub function: String,
    /// The line itself, without its indentation.
    pub source: String,
}
