//! The conversation with a process that runs Python templates. It blocks, and runs in an expansion process, where a
//! template cannot harm other requests.
//!
//! No message of the process is trusted. The size of a frame is checked before it is read, and an unexpected message
//! ends the conversation.

use std::io::{self, Read, Write};

use expandybird_protocol::frame::{self, FrameError, HEADER_BYTES};
use expandybird_protocol::session::{
    Call, Failure, FromWorker, Limits, Lockdown, Open, Output, ToWorker,
};

use super::error::SandboxError;

/// A conversation over `S`.
#[derive(Debug)]
pub struct Conversation<S> {
    /// `None` after a call that left the process unusable.
    stream: Option<S>,
    /// The frame that opens the session, until it is sent together with the first message: that wakes the process and
    /// its caller once less.
    opening: Option<Vec<u8>>,
    is_open: bool,
    limits: Limits,
    /// The paths of the imports: the only file names that a failure may contain.
    files: Vec<String>,
}

/// Why a call has no result.
#[derive(Debug)]
pub enum Ended {
    /// The process closed its stream. How it ended shows the reason.
    Closed,
    Failed(SandboxError),
}

impl<E: Into<SandboxError>> From<E> for Ended {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl<S: Read + Write> Conversation<S> {
    /// Sends nothing yet: the session starts with the first message.
    pub fn new(stream: S, open: Open) -> Result<Self, SandboxError> {
        let limits = open.limits;
        let files = open.imports.iter().map(|import| import.path.clone());
        Ok(Self {
            stream: Some(stream),
            files: files.collect(),
            opening: Some(frame::encode(&ToWorker::Open(open))?),
            is_open: false,
            limits,
        })
    }

    /// Whether the process had a template.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// What the kernel enforces on this session, which then runs no template.
    pub fn lockdown(&mut self) -> Result<Lockdown, Ended> {
        match self.ask(None)? {
            FromWorker::Opened(lockdown) => Ok(lockdown),
            FromWorker::Refused { reason } => Err(refused(&reason).into()),
            FromWorker::Returned(_) | FromWorker::Failed(_) => Err(SandboxError::OutOfTurn.into()),
        }
    }

    /// Runs one instance of a template.
    ///
    /// After an ordinary failure of a template, the session stays usable. After exhausted memory, it does not.
    pub fn call(&mut self, call: Call) -> Result<Output, Ended> {
        match self.ask(Some(&ToWorker::Call(call)))? {
            FromWorker::Returned(output) => Ok(output),
            FromWorker::Failed(failure) => {
                let error = SandboxError::from_failure(self.believed(failure), &self.limits);
                if matches!(error, SandboxError::MemoryExceeded { .. }) {
                    self.stream = None;
                }
                Err(error.into())
            }
            // Only a process without a template can be trusted to say so.
            FromWorker::Refused { reason } if !self.is_open => Err(refused(&reason).into()),
            FromWorker::Refused { .. } | FromWorker::Opened(_) => {
                self.stream = None;
                Err(SandboxError::OutOfTurn.into())
            }
        }
    }

    fn ask(&mut self, message: Option<&ToWorker>) -> Result<FromWorker, Ended> {
        // Taken, and returned only after a complete answer: after half of one, the stream is unusable.
        let Some(mut stream) = self.stream.take() else {
            return Err(SandboxError::SessionOver.into());
        };
        match self.exchange(&mut stream, message)? {
            Some(answer) => {
                self.stream = Some(stream);
                Ok(answer)
            }
            None => Err(Ended::Closed),
        }
    }

    /// Sends a message, after the opening frame if needed, and reads the answer to the last of them.
    fn exchange(
        &mut self,
        stream: &mut S,
        message: Option<&ToWorker>,
    ) -> Result<Option<FromWorker>, FrameError> {
        let opening = self.opening.take();
        let opens = opening.is_some();
        let mut bytes = opening.unwrap_or_default();
        if let Some(message) = message {
            bytes.append(&mut frame::encode(message)?);
        }
        send(stream, &bytes)?;
        if !opens {
            return self.receive(stream);
        }
        let opened = self.receive(stream)?;
        self.is_open = matches!(opened, Some(FromWorker::Opened(_)));
        match message {
            Some(_) if self.is_open => self.receive(stream),
            _ => Ok(opened),
        }
    }

    /// The next message. `None` if the other side is gone.
    fn receive(&self, stream: &mut S) -> Result<Option<FromWorker>, FrameError> {
        let mut header = [0; HEADER_BYTES];
        if !read(stream, &mut header)? {
            return Ok(None);
        }
        let mut payload = vec![0; frame::payload_bytes(header)?];
        match read(stream, &mut payload)? {
            true => frame::decode(&payload).map(Some),
            false => Ok(None),
        }
    }

    /// Removes files from a failure that the request does not have: the template may have made them up.
    fn believed(&self, mut failure: Failure) -> Failure {
        failure
            .frames
            .retain(|frame| self.files.contains(&frame.file));
        failure
    }
}

/// [`read`] reports that the other side is gone, after its last message.
fn send(stream: &mut impl Write, bytes: &[u8]) -> Result<(), FrameError> {
    match stream.write_all(bytes) {
        Err(error) if !is_end(&error) => Err(FrameError::Broken(error)),
        _ => Ok(()),
    }
}

/// False if the other side is gone.
fn read(stream: &mut impl Read, buffer: &mut [u8]) -> Result<bool, FrameError> {
    match stream.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if is_end(&error) => Ok(false),
        Err(error) => Err(FrameError::Broken(error)),
    }
}

fn is_end(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe
    )
}

fn refused(reason: &str) -> SandboxError {
    let reason = format!(
        "this system cannot enforce the sandbox: {reason}; run on a kernel that can, \
         or accept the risk with --allow-weak-sandbox"
    );
    SandboxError::NotAvailable { reason }
}
