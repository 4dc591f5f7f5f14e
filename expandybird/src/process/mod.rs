//! The processes in which configurations are expanded: each may die, and nobody but its request notices.
//!
//! The server reads no byte of a request and none of an answer as a value. It hands a request's body to a
//! process and passes on what the process answers.
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
//! A process serves one request at a time and many in a row, while it behaves. Its end says something about
//! the request that it had, and about no other.

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

/// The stack on which a process expands: far more than any input needs that is not made to be deep. Only
/// what is used of it takes memory.
pub const STACK_BYTES: usize = 64 << 20;
