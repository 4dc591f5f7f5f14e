//! Messages between the server and the zygote: one JSON message per datagram, over a socket pair.
//!
//! [`ToZygote::Start`] carries one file descriptor beside its bytes: the stream of the session.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The longest message: a few fixed fields, and a path or a reason.
pub const MAX_MESSAGE_BYTES: usize = 16 << 10;

/// Requests to the zygote. The first message is always `Configure`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ToZygote {
    Configure(Configuration),
    /// Fork a process for this session. It talks on the attached stream.
    Start {
        session: u64,
    },
    /// End the process of the session now. Unknown and ended sessions are ignored.
    Kill {
        session: u64,
    },
    /// Answer with `Alive`.
    Ask,
}

/// The settings of a zygote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Configuration {
    /// The folder with yaml, six and jinja2. Default: the interpreter's own packages.
    pub python_path: Option<PathBuf>,
    /// Whether to run templates although the kernel cannot enforce the whole sandbox.
    pub allow_weak_lockdown: bool,
}

/// Reports of the zygote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum FromZygote {
    /// The zygote is warm: sessions may start.
    Ready { python_version: String },
    /// The zygote is not usable, and why. It ends after this message.
    Failed { reason: String },
    /// The process of a session has ended.
    Exited { session: u64, exit: Exit },
    /// The answer to `Ask`.
    Alive,
}

/// The code of a process that had no memory left for an answer. `worker/src/native/abort.c` has it too.
pub const OUT_OF_MEMORY: i32 = 112;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Exit {
    Code(i32),
    Signal(i32),
}
