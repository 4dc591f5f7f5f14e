//! The processes that expand configurations. If one dies, only its request fails.
//!
//! The server parses neither requests nor answers. It passes the body of a request to a process, and the process's
//! answer to the caller.
//!
//! ```text
//!  the server (tokio)                    an expansion process               a Python process (sandbox)
//!  ──────────────────                    ────────────────────               ──────────────────────────
//!  starter ── exec /proc/self/exe ─────► gives up files, network, rights
//!          ── Setup ───────────────────► limits of memory
//!          ◄─ Ready ────────────────────
//!  Expand + body ──────────────────────► JSON, YAML, schemas, Jinja
//!                                        (writes to the note what it is at)
//!          ◄─ Python ───────────────────
//!  leases a process of the sandbox
//!  Granted + its stream (SCM_RIGHTS) ──► Open, Call ──────────────────────► GenerateConfig
//!                                              ◄──────────────────────────── Returned | Failed
//!          ◄─ Answer + body ────────────
//!  passes the body on, unread
//!
//!  deadline, caller gone: SIGKILL ─────► gone
//!  reads its last words and the note, and says what did it
//! ```
//!
//! A process serves one request at a time, and many in a row. Its end concerns only the request that it had.

mod death;
mod handle;
pub mod inside;
mod message;
mod note;
mod pool;
mod starter;

pub use death::{Cause, Death, Named};
pub use handle::{Event, Lent, ProcessError};
pub use message::{Expand, Limits, Reply};
pub use note::{Digest, Note, Stage};
pub use pool::{Pool, PoolOptions};
pub use starter::ARGUMENT;

/// The stack size of an expansion: much more than any input needs that is not made to be deep. Only the used part takes
/// memory.
pub const STACK_BYTES: usize = 64 << 20;
