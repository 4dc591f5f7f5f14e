//! Runs Python templates, which strangers wrote, in processes that can do nothing but compute.
//!
//! Responsible for those processes: a fresh one for every session (one request), forked from a
//! warm one, locked down before it sees a template, killed at its deadline, and replaced should the
//! warm one end. It knows neither layouts nor schemas nor YAML: text or data comes out as the
//! template returned it. The threat model is in `expandybird/README.md`.
//!
//! ```text
//!  expandybird (tokio)                expandybird-worker: the zygote          its child, one a session
//!  ───────────────────                ──────────────────────────────          ────────────────────────
//!  Sandbox::start ── spawn ─────────► loads Python, yaml, six, jinja2
//!                 ◄─ Ready ────────── (never runs a template)
//!  ahead of need
//!     Start + stream (SCM_RIGHTS) ──► fork ─────────────────────────────────► takes the stream
//!                                                                             Landlock, seccomp
//!  Session::call, the first
//!     Open, Call ───────────────── the stream, a socket pair ───────────────► limits
//!          ◄──────────────────────────────────────────────────────────────── Opened(Lockdown)
//!                                                                             GenerateConfig(context)
//!          ◄──────────────────────────────────────────────────────────────── Returned | Failed
//!  drop(Session)
//!     closes the stream ────────────────────────────────────────────────────► reads the end, exits
//!  deadline, client gone half way
//!     Kill ─────────────────────────► SIGKILL ──────────────────────────────► gone, whatever it does
//!          ◄─ Exited(how) ─────────── reaps it
//! ```
//!
//! Who outlives whom: the zygote ends when its control socket does (the server died, however), and
//! every child has `PR_SET_PDEATHSIG` set to follow the zygote. Only the zygote handles process ids,
//! and only of children it has not reaped, so no signal can hit a stranger. A session's place in
//! the pool is free again when its process is reaped, not before.

mod conversation;
mod error;
mod lease;
mod pool;
mod process;

use std::path::PathBuf;

pub use conversation::{Conversation, Ended};
pub use error::{SandboxError, ended};
pub use expandybird_protocol::control::Exit;
pub use expandybird_protocol::session::{
    Call, Failure, FailureKind, Frame, Import, Limits, Lockdown, Open, Output, TemplateResult,
};
pub use lease::{HowEnded, Lease};
use tokio::time::Instant;

use crate::admission::Caller;
use pool::Pool;

/// How a sandbox is set up.
#[derive(Debug, Clone)]
pub struct SandboxOptions {
    /// The worker program; by default `expandybird-worker` beside this one.
    pub worker: Option<PathBuf>,
    /// The folder that holds yaml, six and jinja2; by default `../python` beside this program's
    /// folder if it exists, else the interpreter's own packages.
    pub python_path: Option<PathBuf>,
    /// Runs templates although the kernel cannot enforce the whole lockdown.
    pub allow_weak_lockdown: bool,
    /// Processes at once; further sessions wait for their turn, until their deadline.
    pub max_sessions: usize,
}

/// A warm Python, ready to be forked. Dropping it ends it.
#[derive(Debug)]
pub struct Sandbox {
    pool: Pool,
}

/// What a ready sandbox says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    pub python_version: String,
    /// Of the warm process.
    pub process_id: u32,
    pub lockdown: Lockdown,
    /// Processes that run templates now.
    pub sessions: usize,
}

impl Sandbox {
    /// A sandbox whose worker starts with the first session, or when asked for its health.
    pub fn new(options: SandboxOptions) -> Result<Self, SandboxError> {
        Ok(Self {
            pool: Pool::new(options)?,
        })
    }

    /// A sandbox that is warm, and able to enforce what it promises.
    pub async fn start(options: SandboxOptions) -> Result<Self, SandboxError> {
        let sandbox = Self::new(options)?;
        sandbox.health().await?;
        Ok(sandbox)
    }

    /// A fresh process for one request, which waits for its session. It ends when the lease is dropped.
    /// Whether the system locks it down as it must shows with the first call.
    pub async fn lease(&self, caller: &Caller, deadline: Instant) -> Result<Lease, SandboxError> {
        self.pool.lease(caller, deadline).await
    }

    /// Whether templates can run, and under which protection; starts the worker if need be.
    pub async fn health(&self) -> Result<Health, SandboxError> {
        let warm = self.pool.warm().await?;
        Ok(Health {
            python_version: warm.zygote.python_version.clone(),
            process_id: warm.zygote.process_id,
            lockdown: warm.lockdown,
            sessions: warm.zygote.running(),
        })
    }
}
