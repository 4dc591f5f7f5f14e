//! An expansion process's requests to its server: processes for Python templates.

use std::io::{self, IoSliceMut, Read, Write};
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::net::UnixStream;

use expandybird_protocol::frame;
use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recv, recvmsg, send};

use crate::engine::python::Sessions;
use crate::process::handle::REPLY;
use crate::process::message::{Head, Reply};
use crate::sandbox::{HowEnded, SandboxError};

/// The server during a request.
#[derive(Debug, Clone, Copy)]
pub struct Host<'s>(&'s UnixStream);

impl<'s> Host<'s> {
    pub fn new(stream: &'s UnixStream) -> Self {
        Self(stream)
    }

    fn python(self) -> Result<PythonStream, SandboxError> {
        self.ask(Head::Python)?;
        let python = self.descriptor().map_err(lost_server)?;
        match (self.hear::<Reply>()?, python) {
            (Reply::Granted, Some(stream)) => Ok(stream),
            (Reply::Granted, None) => Err(lost_server(io::ErrorKind::InvalidData.into())),
            (Reply::Refused { code, message }, _) => {
                Err(SandboxError::NotGranted { code, message })
            }
        }
    }

    fn ask(mut self, head: Head) -> Result<(), SandboxError> {
        self.0.write_all(&head.encode()).map_err(lost_server)
    }

    fn hear<T: serde::de::DeserializeOwned>(mut self) -> Result<T, SandboxError> {
        match frame::read(&mut self.0)? {
            Some(message) => Ok(message),
            None => Err(lost_server(io::ErrorKind::UnexpectedEof.into())),
        }
    }

    /// The byte before a reply, and the descriptor that comes with it.
    fn descriptor(self) -> io::Result<Option<PythonStream>> {
        let mut byte = [0];
        let mut room = cmsg_space!(RawFd);
        let mut parts = [IoSliceMut::new(&mut byte)];
        let message = recvmsg::<()>(
            self.0.as_raw_fd(),
            &mut parts,
            Some(&mut room),
            MsgFlags::MSG_CMSG_CLOEXEC,
        )?;
        let received = message.bytes;
        let descriptor = message.cmsgs()?.find_map(|message| match message {
            ControlMessageOwned::ScmRights(descriptors) => descriptors.first().copied(),
            _ => None,
        });
        match received == 1 && byte[0] == REPLY {
            true => Ok(descriptor.map(PythonStream)),
            false => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

impl Sessions for Host<'_> {
    type Stream = PythonStream;

    fn open(&mut self) -> Result<PythonStream, SandboxError> {
        self.python()
    }

    fn how_it_ended(&mut self, opened: bool) -> Result<HowEnded, SandboxError> {
        self.ask(Head::PythonEnded { opened })?;
        self.hear()
    }
}

/// The server closed the connection during a request, which ends this process.
fn lost_server(error: io::Error) -> SandboxError {
    SandboxError::Protocol(frame::FrameError::Broken(error))
}

/// The stream of a Python process. Dropping it closes the stream.
///
/// Not an owned descriptor of the standard library: converting a received descriptor into one needs `unsafe`.
#[derive(Debug)]
pub struct PythonStream(RawFd);

fn again(mut call: impl FnMut() -> nix::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(Errno::EINTR) => {}
            outcome => return outcome.map_err(io::Error::from),
        }
    }
}

impl Read for PythonStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        again(|| recv(self.0, buffer, MsgFlags::empty()))
    }
}

impl Write for PythonStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        again(|| send(self.0, bytes, MsgFlags::MSG_NOSIGNAL))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for PythonStream {
    fn drop(&mut self) {
        if let Err(error) = nix::unistd::close(self.0) {
            eprintln!("expandybird: cannot close a stream: {error}");
        }
    }
}
