//! One session: a process of its own, for all Python templates of one request.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::time::Duration;

use expandybird_protocol::control::Exit;
use expandybird_protocol::frame::{self, FrameError};
use expandybird_protocol::session::{Call, FromWorker, Limits, Lockdown, Output, ToWorker};
use tokio::net::UnixStream;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::{Instant, timeout, timeout_at};

use super::channel;
use super::error::SandboxError;
use super::pool::Warm;
use super::process::{Started, Zygote};

/// How long the zygote may take to say how a process ended whose stream is closed.
const OBITUARY_TIMEOUT: Duration = Duration::from_secs(2);

/// Dropping it, at any time, ends its process.
#[derive(Debug)]
pub struct Session {
    id: u64,
    warm: Warm,
    /// `None` after a call that left the process unusable.
    stream: Option<UnixStream>,
    ended: oneshot::Receiver<Exit>,
    /// The frame that opens the session, until it goes along with the first message: that saves
    /// waking the process, and its caller, once more.
    opening: Option<Vec<u8>>,
    is_open: bool,
    limits: Limits,
    deadline: Instant,
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
    /// Gives a waiting process its session. It learns of it with the first message.
    pub(super) fn new(
        warm: Warm,
        spare: Spare,
        permit: OwnedSemaphorePermit,
        open: &ToWorker,
        limits: Limits,
        deadline: Instant,
    ) -> Result<Self, SandboxError> {
        let id = spare.started.id;
        if !warm.zygote.occupy(id, permit) {
            return Err(SandboxError::Lost);
        }
        Ok(Self {
            id,
            warm,
            stream: Some(spare.stream),
            ended: spare.started.ended,
            opening: Some(frame::encode(open)?),
            is_open: false,
            limits,
            deadline,
        })
    }

    /// What the kernel enforces upon this session, which runs no template then.
    pub(super) async fn lockdown(mut self) -> Result<Lockdown, SandboxError> {
        match self.ask(None).await? {
            FromWorker::Opened(lockdown) => Ok(lockdown),
            FromWorker::Refused { reason } => Err(refused(&reason)),
            FromWorker::Returned(_) | FromWorker::Failed(_) => Err(SandboxError::OutOfTurn),
        }
    }

    /// Runs one instance of a template, until the session's deadline.
    ///
    /// A template that fails by itself leaves the session usable; one that had to be ended, or
    /// that ran out of memory, does not.
    pub async fn call(&mut self, call: Call) -> Result<Output, SandboxError> {
        match self.ask(Some(&ToWorker::Call(call))).await? {
            FromWorker::Returned(output) => Ok(output),
            FromWorker::Failed(failure) => {
                let error = SandboxError::from_failure(failure, &self.limits);
                if matches!(error, SandboxError::MemoryExceeded { .. }) {
                    self.end();
                }
                Err(error)
            }
            FromWorker::Refused { reason } => Err(refused(&reason)),
            FromWorker::Opened(_) => {
                self.end();
                Err(SandboxError::OutOfTurn)
            }
        }
    }

    async fn ask(&mut self, message: Option<&ToWorker>) -> Result<FromWorker, SandboxError> {
        // Taken, and given back only after a whole answer: a caller that stops waiting half way
        // must not find the next call's answer to be this one's.
        let Some(mut stream) = self.stream.take() else {
            return Err(SandboxError::SessionOver);
        };
        let deadline = self.deadline;
        match timeout_at(deadline, self.exchange(&mut stream, message)).await {
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

    /// Sends a message, behind the opening if need be, and hears the answer to the last of them.
    async fn exchange(
        &mut self,
        stream: &mut UnixStream,
        message: Option<&ToWorker>,
    ) -> Result<Option<FromWorker>, FrameError> {
        let opening = self.opening.take();
        let opens = opening.is_some();
        let mut bytes = opening.unwrap_or_default();
        if let Some(message) = message {
            bytes.append(&mut frame::encode(message)?);
        }
        channel::send(stream, &bytes).await?;
        if !opens {
            return channel::receive(stream).await;
        }
        // This process is at work now; the next request finds another.
        self.warm.fork_ahead();
        let opened = channel::receive(stream).await?;
        self.is_open = matches!(opened, Some(FromWorker::Opened(_)));
        match message {
            Some(_) if self.is_open => channel::receive(stream).await,
            _ => Ok(opened),
        }
    }

    async fn obituary(&mut self) -> SandboxError {
        match timeout(OBITUARY_TIMEOUT, &mut self.ended).await {
            // No template has run by then, so however the process ended, it is none's fault.
            Ok(Ok(exit)) if !self.is_open => {
                tracing::warn!(?exit, "a process ended before it had a template");
                SandboxError::Lost
            }
            Ok(Ok(exit)) => SandboxError::from_exit(exit),
            Ok(Err(_)) => SandboxError::Lost,
            // It closed its stream and goes on: dropping the session ends it.
            Err(_) => SandboxError::OutOfTurn,
        }
    }

    fn end(&mut self) {
        self.stream = None;
        self.warm.zygote.kill(self.id);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // A process that waits for a call reads the end of its stream, and leaves without running
        // another line of a template; one that is at work reads nothing.
        if self.stream.take().is_none() {
            self.end();
        }
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

fn refused(reason: &str) -> SandboxError {
    let reason = format!(
        "this system cannot enforce the sandbox: {reason}; run on a kernel that can, \
         or accept the risk with --allow-weak-sandbox"
    );
    SandboxError::NotAvailable { reason }
}
