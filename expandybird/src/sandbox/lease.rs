//! The server's handle to a process for the Python templates of one expansion.
//!
//! The server never reads the messages of the process: it passes the stream to the expansion process. It keeps the
//! ability to end the process, and learns how it ended.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use expandybird_protocol::control::Exit;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::error::SandboxError;
use super::pool::Warm;
use super::process::{Started, Zygote};
use crate::admission::Permit;

/// How long the zygote may take to report the end of a process whose stream is closed.
const OBITUARY_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a process may take to end after its session.
const LEAVE_TIMEOUT: Duration = Duration::from_millis(250);

/// Dropping it, at any time, ends its process.
#[derive(Debug)]
pub struct Lease {
    id: u64,
    warm: Warm,
    stream: Option<OwnedFd>,
    ended: oneshot::Receiver<Exit>,
    has_ended: bool,
}

/// How a process with a closed stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum HowEnded {
    Exit(Exit),
    /// The zygote ended too, or the process had no template yet: no template is the cause.
    Lost,
    /// It still runs. Dropping the lease ends it.
    Running,
}

/// A process that waits for its session. It has received nothing of any request.
#[derive(Debug)]
pub(super) struct Spare {
    stream: UnixStream,
    started: Started,
}

impl Spare {
    pub(super) fn fork(zygote: &Zygote) -> Result<Self, SandboxError> {
        let (stream, theirs) = UnixStream::pair()
            .map_err(|error| SandboxError::unavailable("make a stream", &error))?;
        let started = zygote.fork(&OwnedFd::from(theirs))?;
        Ok(Self { stream, started })
    }
}

impl Lease {
    pub(super) fn new(warm: Warm, spare: Spare, place: Permit) -> Result<Self, SandboxError> {
        let id = spare.started.id;
        if !warm.zygote.occupy(id, place) {
            warm.forget_spares();
            return Err(SandboxError::Lost);
        }
        Ok(Self {
            id,
            warm,
            stream: Some(OwnedFd::from(spare.stream)),
            ended: spare.started.ended,
            has_ended: false,
        })
    }

    /// The stream to the process, for the caller that opens the session. Returned once.
    pub fn stream(&mut self) -> Option<OwnedFd> {
        self.stream.take()
    }

    /// This process is in use from now on. Forks another one for the next request.
    pub fn fork_ahead(&self) {
        self.warm.fork_ahead();
    }

    /// How the process with the closed stream ended. `opened`: it had a template. Without one, only the system can have
    /// ended it.
    pub async fn how_it_ended(&mut self, opened: bool) -> HowEnded {
        let Ok(ended) = timeout(OBITUARY_TIMEOUT, &mut self.ended).await else {
            return HowEnded::Running;
        };
        self.has_ended = true;
        match ended {
            Ok(exit) if opened => HowEnded::Exit(exit),
            Ok(_) | Err(_) => {
                self.warm.forget_spares();
                HowEnded::Lost
            }
        }
    }

    /// The session is over and its stream is closed: the process exits by itself, or is ended.
    pub fn finish(mut self) {
        if self.has_ended {
            return;
        }
        tokio::spawn(async move {
            let lease = &mut self;
            lease.has_ended = timeout(LEAVE_TIMEOUT, &mut lease.ended).await.is_ok();
        });
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if !self.has_ended {
            self.warm.zygote.kill(self.id);
        }
    }
}
