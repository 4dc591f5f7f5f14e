//! Between the server and the zygote: one JSON message a datagram, over a socket pair.
//!
//! [`ToZygote::Start`] carries one file descriptor beside its bytes: the session's stream.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The longest message: a few fixed fields, and a path or a reason.
pub const MAX_MESSAGE_BYTES: usize = 16 << 10;

/// What the zygote does: the first message is always `Configure`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ToZygote {
    Configure(Configuration),
    /// Fork a process for this session, talking on the attached stream.
    Start {
        session: u64,
    },
    /// End the session's process now; unknown and ended sessions are ignored.
    Kill {
        session: u64,
    },
}

/// How a zygote is set up, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Configuration {
    /// The folder that holds yaml, six and jinja2; without it, the interpreter's own packages.
    pub python_path: Option<PathBuf>,
    /// Whether to run templates although the kernel cannot enforce the whole lockdown.
    pub allow_weak_lockdown: bool,
}

/// What the zygote reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum FromZygote {
    /// Warm: sessions may start.
    Ready { python_version: String },
    /// Not usable, and why; the zygote ends after saying so.
    Failed { reason: String },
    /// A session's process is gone.
    Exited { session: u64, exit: Exit },
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Exit {
    Code(i32),
    Signal(i32),
}
