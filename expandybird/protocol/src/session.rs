//! Messages between the server and the process of one session.
//!
//! The server sends [`ToWorker::Open`]. The worker answers [`FromWorker::Opened`] (or `Refused`) after it is locked
//! down. Every [`ToWorker::Call`] is then answered by `Returned` or `Failed`. A failed call leaves the session usable,
//! except after [`FailureKind::Memory`].

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How deep the result of a template may nest: the limit of a JSON reader, minus the levels of the frame.
pub const MAX_RESULT_DEPTH: usize = 100;

/// Requests of the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToWorker {
    Open(Open),
    Call(Call),
}

/// The common input of all calls of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Open {
    /// Every import of the request: templates, helper modules and texts.
    pub imports: Vec<Import>,
    pub limits: Limits,
    /// The time of all clocks, in seconds since 1970 (UTC).
    pub current_time: i64,
    /// The initial value of all sources of randomness.
    pub seed: u64,
}

/// A file of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Import {
    /// Its name in `context.imports`.
    pub name: String,
    /// Its path. It decides which helper modules are neighbours, and appears in errors.
    pub path: String,
    pub content: String,
}

/// The limits that the kernel enforces on a session. The server limits wall time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Address space of the process, in bytes, including about 60 MiB for the interpreter.
    pub memory_bytes: u64,
    /// Processor time of the session.
    pub cpu_seconds: u64,
    /// Bytes of one result.
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

/// Answers of the worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum FromWorker {
    Opened(Lockdown),
    /// The kernel cannot enforce enough to run untrusted code, or refused to.
    Refused {
        reason: String,
    },
    Returned(Output),
    Failed(Failure),
}

/// The protections of a session's process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lockdown {
    /// The Landlock version in force, if the kernel has Landlock.
    pub landlock_abi: Option<u32>,
    /// Landlock: only the files of Python's library, read-only.
    pub files: bool,
    /// Landlock: no TCP. A second layer: seccomp also refuses sockets.
    pub network: bool,
    /// Landlock: no signals to other processes. A second layer: seccomp also refuses signals.
    pub signals: bool,
    /// Only the system calls that a computing interpreter needs.
    pub seccomp: bool,
    /// No program can give the process more privileges.
    pub no_new_privileges: bool,
    /// Limits on memory, processor time, files, processes.
    pub resource_limits: bool,
}

impl Lockdown {
    /// The protections that a hermetic session requires and this one lacks, in words.
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

/// The result of a template.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    pub result: TemplateResult,
    /// The beginning of the template's printed output. Usually empty.
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
    /// Outermost first. Only frames of the template and its helpers.
    pub frames: Vec<Frame>,
    /// What to change, if that is known (Python 2 idioms).
    pub hint: Option<String>,
}

/// The kind of a failure, for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FailureKind {
    /// The template raised an exception, or is not valid Python.
    Raised,
    /// The template tried something forbidden: a file, a socket, a process.
    Forbidden,
    /// The template imports a module that is neither available to templates nor among the imports.
    Import,
    /// The template has no `GenerateConfig`.
    MissingFunction,
    /// The result is not JSON.
    InvalidResult,
    Memory,
    /// The result, or the printed output, is too large.
    OutputTooLarge,
}

/// A line of a template on the call stack of its failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Frame {
    pub file: String,
    pub line: u32,
    /// Counted from 1.
    pub column: Option<u32>,
    /// `<module>` outside of functions.
    pub function: String,
    /// The text of the line, without its indentation.
    pub source: String,
}
