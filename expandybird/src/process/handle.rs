//! A process with a request: the messages between the server and the process.

use std::io::{self, IoSlice};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::Arc;

use expandybird_protocol::frame::{self, FrameError};
use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
use serde::Serialize;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, Interest};
use tokio::net::UnixStream;

use super::death::{Cause, Death};
use super::message::{Expand, HEAD_BYTES, Head, Reply};
use super::pool::{Idle, Pool};

/// Sent before a reply with a descriptor, because a descriptor needs at least one byte.
pub(super) const REPLY: u8 = b'r';

/// Why the conversation with a process has ended.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The process has closed its stream, probably because it died.
    #[error("the process ended")]
    Gone,
    #[error("the process sent a head that means nothing")]
    Garbled,
    #[error(transparent)]
    Io(io::Error),
    #[error(transparent)]
    Frame(#[from] FrameError),
}

impl From<io::Error> for ProcessError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe => Self::Gone,
            _ => Self::Io(error),
        }
    }
}

/// A process, lent to one request. Dropping it kills the process, unless it was returned.
#[derive(Debug)]
pub struct Lent {
    pool: Arc<Pool>,
    /// `None` only while it is taken apart.
    idle: Option<Idle>,
    stream: UnixStream,
}

/// Requests of a process to the server.
#[derive(Debug)]
pub enum Event {
    Python,
    PythonEnded {
        opened: bool,
    },
    Answer {
        code: Option<common::api::error::ErrorCode>,
        bytes: usize,
        worn: bool,
    },
}

impl Lent {
    /// Registers the stream with the runtime of this request. Other requests may have another runtime.
    pub(super) fn new(pool: Arc<Pool>, idle: Idle) -> io::Result<Self> {
        let stream = UnixStream::from_std(idle.process.stream.try_clone()?)?;
        idle.process.note.clear()?;
        Ok(Self {
            pool,
            idle: Some(idle),
            stream,
        })
    }

    /// Sends a request.
    pub async fn send(&mut self, expand: &Expand, body: &[u8]) -> Result<(), ProcessError> {
        self.say(expand).await?;
        // Not in one frame: a copy of a large body would count nowhere.
        Ok(self.stream.write_all(body).await?)
    }

    /// The next message. A body is not read yet.
    pub async fn event(&mut self) -> Result<Event, ProcessError> {
        let mut head = [0; HEAD_BYTES];
        self.stream.read_exact(&mut head).await?;
        match Head::decode(head) {
            Some(Head::Python) => Ok(Event::Python),
            Some(Head::PythonEnded { opened }) => Ok(Event::PythonEnded { opened }),
            Some(Head::Answer { code, bytes, worn }) => Ok(Event::Answer { code, bytes, worn }),
            Some(Head::Ready { .. }) | None => Err(ProcessError::Garbled),
        }
    }

    /// The body of an answer.
    pub async fn body(&mut self, bytes: usize) -> Result<Vec<u8>, ProcessError> {
        let mut body = vec![0; bytes];
        self.stream.read_exact(&mut body).await?;
        Ok(body)
    }

    /// Answers its request for a Python process.
    pub async fn reply(
        &mut self,
        reply: &Reply,
        python: Option<OwnedFd>,
    ) -> Result<(), ProcessError> {
        let descriptors: Vec<_> = python.iter().map(|fd| fd.as_raw_fd()).collect();
        let rights = [ControlMessage::ScmRights(&descriptors)];
        let rights = match descriptors.is_empty() {
            true => &[][..],
            false => &rights[..],
        };
        let socket = self.stream.as_raw_fd();
        let send = || {
            let parts = [IoSlice::new(&[REPLY])];
            let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
            sendmsg::<()>(socket, &parts, rights, flags, None).map_err(io::Error::from)
        };
        self.stream.async_io(Interest::WRITABLE, send).await?;
        self.say(reply).await
    }

    /// Sends a message.
    pub async fn say(&mut self, message: &impl Serialize) -> Result<(), ProcessError> {
        let frame = frame::encode(message)?;
        Ok(self.stream.write_all(&frame).await?)
    }

    /// The process has answered and waits for the next request.
    pub fn give_back(mut self) {
        if let Some(mut idle) = self.idle.take() {
            idle.served += 1;
            self.pool.give_back(idle);
        }
    }

    /// Ends the process, and returns how it ended. `cause` overrides it if the server knows more.
    pub async fn end(mut self, cause: Option<Cause>) -> Death {
        let lost = Death {
            cause: Cause::Lost,
            note: None,
        };
        let Some(idle) = self.idle.take() else {
            return lost;
        };
        let mut death = self.pool.bury(idle.process).await.unwrap_or(lost);
        if let Some(cause) = cause {
            death.cause = cause;
        }
        death
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(idle) = self.idle.take() {
            // How it ended does not matter: no client waits for the answer.
            drop(self.pool.bury(idle.process));
        }
    }
}
