//! One session: a process of its own, for all Python templates of one request.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::sync::Arc;
use std::time::Duration;

use expandybird_protocol::control::Exit;
use expandybird_protocol::session::{Call, FromWorker, Limits, Lockdown, Output, ToWorker};
use tokio::net::UnixStream;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::{Instant, timeout, timeout_at};

use super::channel;
use super::error::SandboxError;
use super::process::{Started, Zygote};

/// How long the zygote may take to say how a process ended whose stream is closed.
const OBITUARY_TIMEOUT: Duration = Duration::from_secs(2);

/// Dropping it, at any time, ends its process.
#[derive(Debug)]
pub struct Session {
    id: u64,
    zygote: Arc<Zygote>,
    /// `None` after a call that left the process unusable.
    stream: Option<UnixStream>,
    ended: oneshot::Receiver<Exit>,
    limits: Limits,
    deadline: Instant,
    lockdown: Lockdown,
}

/// A process that waits for its session; it has seen nothing of any request.
#[derive(Debug)]
pub(super) struct Spare {
    stream: UnixStream,
    started: Started,
}

impl Spare {
    pub(super) fn fork(zygote: &Zygote) -> Result<Self, SandboxError> {
        let (stream, theirs) = stream_pair()?;
        let started = zygote.fork(&theirs)?;
        Ok(Self { stream, started })
    }
}

impl Session {
    /// Gives a waiting process its session, and waits until it is locked down.
    ///
    /// No template has run by then, so however the process ends, it is none's fault: it is `Lost`.
    pub(super) async fn open(
        zygote: Arc<Zygote>,
        spare: Spare,
        permit: OwnedSemaphorePermit,
        open: &ToWorker,
        limits: Limits,
        deadline: Instant,
    ) -> Result<Self, SandboxError> {
        let id = spare.started.id;
        let is_there = zygote.occupy(id, permit);
        let mut session = Self {
            id,
            zygote,
            stream: Some(spare.stream),
            ended: spare.started.ended,
            limits,
            deadline,
            lockdown: Lockdown::default(),
        };
        if !is_there {
            return Err(SandboxError::Lost);
        }
        session.lockdown = match session.ask(open).await.map_err(not_by_a_template)? {
            FromWorker::Opened(lockdown) => lockdown,
            FromWorker::Refused { reason } => return Err(refused(&reason)),
            FromWorker::Returned(_) | FromWorker::Failed(_) => {
                return Err(SandboxError::OutOfTurn);
            }
        };
        Ok(session)
    }

    /// What the kernel enforces upon this session.
    #[must_use]
    pub fn lockdown(&self) -> Lockdown {
        self.lockdown
    }

    /// Runs one instance of a template, until the session's deadline.
    ///
    /// A template that fails by itself leaves the session usable; one that had to be ended, or
    /// that ran out of memory, does not.
    pub async fn call(&mut self, call: Call) -> Result<Output, SandboxError> {
        match self.ask(&ToWorker::Call(call)).await? {
            FromWorker::Returned(output) => Ok(output),
            FromWorker::Failed(failure) => {
                let error = SandboxError::from_failure(failure, &self.limits);
                if matches!(error, SandboxError::MemoryExceeded { .. }) {
                    self.end();
                }
                Err(error)
            }
            FromWorker::Opened(_) | FromWorker::Refused { .. } => {
                self.end();
                Err(SandboxError::OutOfTurn)
            }
        }
    }

    async fn ask(&mut self, message: &ToWorker) -> Result<FromWorker, SandboxError> {
        // Taken, and given back only after a whole answer: a caller that stops waiting half way
        // must not find the next call's answer to be this one's.
        let Some(mut stream) = self.stream.take() else {
            return Err(SandboxError::SessionOver);
        };
        let exchange = async {
            channel::send(&mut stream, message).await?;
            channel::receive(&mut stream).await
        };
        match timeout_at(self.deadline, exchange).await {
            Ok(Ok(Some(answer))) => {
                self.stream = Some(stream);
                Ok(answer)
            }
            Ok(Ok(None)) => Err(self.obituary().await),
            Ok(Err(error)) => {
                self.end();
                Err(error.into())
            }
            Err(_) => {
                self.end();
                Err(SandboxError::Timeout)
            }
        }
    }

    async fn obituary(&mut self) -> SandboxError {
        match timeout(OBITUARY_TIMEOUT, &mut self.ended).await {
            Ok(Ok(exit)) => SandboxError::from_exit(exit),
            Ok(Err(_)) => SandboxError::Lost,
            // It closed its stream and goes on: dropping the session ends it.
            Err(_) => SandboxError::OutOfTurn,
        }
    }

    fn end(&mut self) {
        self.stream = None;
        self.zygote.kill(self.id);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end();
    }
}

fn stream_pair() -> Result<(UnixStream, OwnedFd), SandboxError> {
    let pair = || {
        let (ours, theirs) = StdStream::pair()?;
        ours.set_nonblocking(true)?;
        Ok((UnixStream::from_std(ours)?, OwnedFd::from(theirs)))
    };
    pair().map_err(|error: std::io::Error| SandboxError::unavailable("make a stream", &error))
}

fn not_by_a_template(error: SandboxError) -> SandboxError {
    match error {
        SandboxError::WorkerDied { exit } => {
            tracing::warn!(?exit, "a process ended before it had a template");
            SandboxError::Lost
        }
        other => other,
    }
}

fn refused(reason: &str) -> SandboxError {
    let reason = format!(
        "this system cannot enforce the sandbox: {reason}; run on a kernel that can, \
         or accept the risk with --allow-weak-sandbox"
    );
    SandboxError::NotAvailable { reason }
}
