//! Runs untrusted Python templates in processes that can only compute.
//!
//! Responsible for those processes. Each session (one request) has a fresh one, forked from a warm process, locked down
//! before it receives a template, and killed at its deadline. If the warm process ends, it is replaced. It does not
//! know layouts, schemas or YAML: text or data is passed on as the template returned it. The threat model is in
//! `expandybird/README.md`.
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
//!  each second without a message,
//!  while sessions run
//!     Ask ──────────────────────────►
//!          ◄─ Alive ─────────────────
//! ```
//!
//! Lifetimes: the zygote ends when its control socket does, whatever ended the server. Every child has
//! `PR_SET_PDEATHSIG` set to follow the zygote. Only the zygote handles process ids, and only of children that it has
//! not reaped, so no signal can reach another process. The place of a session in the pool is free after its process is
//! reaped.

mod conversation;
mod error;
mod lease;
mod listener;
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

/// The settings of a sandbox.
#[derive(Debug, Clone)]
pub struct SandboxOptions {
    /// The worker program. Default: `expandybird-worker` beside this program.
    pub worker: Option<PathBuf>,
    /// The folder with yaml, six and jinja2. Default: `../python` beside this program's folder if it exists, otherwise
    /// the interpreter's own packages.
    pub python_path: Option<PathBuf>,
    /// Runs templates although the kernel cannot enforce the whole sandbox.
    pub allow_weak_lockdown: bool,
    /// Processes at the same time. Further sessions wait until their deadline.
    pub max_sessions: usize,
}

/// A warm Python, ready to be forked. Dropping it ends it.
#[derive(Debug)]
pub struct Sandbox {
    pool: Pool,
}

/// The health report of a ready sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    pub python_version: String,
    /// The process id of the warm process.
    pub process_id: u32,
    pub lockdown: Lockdown,
    /// Processes that run templates now.
    pub sessions: usize,
}

impl Sandbox {
    /// A sandbox whose worker starts with the first session or health check.
    pub fn new(options: SandboxOptions) -> Result<Self, SandboxError> {
        Ok(Self {
            pool: Pool::new(options)?,
        })
    }

    /// A sandbox that is warm, and able to enforce its protections.
    pub async fn start(options: SandboxOptions) -> Result<Self, SandboxError> {
        let sandbox = Self::new(options)?;
        sandbox.health().await?;
        Ok(sandbox)
    }

    /// A fresh process for one request, which waits for its session. Dropping the lease ends it. The first call shows
    /// whether the system locks the process down.
    pub async fn lease(&self, caller: &Caller, deadline: Instant) -> Result<Lease, SandboxError> {
        self.pool.lease(caller, deadline).await
    }

    /// Whether templates can run, and with which protections. Starts the worker if needed.
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
