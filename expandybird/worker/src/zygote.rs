//! The process that sessions are forked from: it waits for messages of the server, and for the end of its children.
//!
//! Responsible for one warm interpreter and for its children: only this process starts, kills and reaps them, so no
//! other code handles their process ids. It reads no output of templates.

use std::collections::HashMap;
use std::fs::File;
use std::io::{IoSliceMut, Stdin, stdin};
use std::os::fd::{AsFd, AsRawFd, RawFd};

use expandybird_protocol::control::{Configuration, Exit, FromZygote, MAX_MESSAGE_BYTES, ToZygote};
use nix::cmsg_space;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, RecvMsg, recv, recvmsg, send};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};
use pyo3::Python;

use crate::error::{WorkerError, chain};
use crate::interpreter::Interpreter;
use crate::lockdown::{self, Prepared};
use crate::session;

/// Serves the server whose socket is standard input. In a child, serves its session.
pub fn run() -> Result<(), WorkerError> {
    let mut control = Control::new();
    let Some(configuration) = control.configuration()? else {
        return Ok(());
    };
    Python::initialize();
    Python::attach(|py| match Zygote::new(py, &configuration) {
        Ok(zygote) => {
            control.send(&FromZygote::Ready {
                python_version: zygote.interpreter.version.clone(),
            })?;
            zygote.serve(&mut control, &configuration)
        }
        Err(error) => control.send(&FromZygote::Failed {
            reason: chain(&error),
        }),
    })
}

struct Zygote<'py> {
    interpreter: Interpreter<'py>,
    prepared: Prepared,
    /// The target of the standard streams of sessions.
    nowhere: File,
    id: Pid,
    child_ended: SignalFd,
    children: HashMap<Pid, u64>,
}

impl<'py> Zygote<'py> {
    /// Opens and loads everything that sessions need. After that, files are not accessible.
    fn new(py: Python<'py>, configuration: &Configuration) -> Result<Self, WorkerError> {
        let interpreter = Interpreter::warm_up(py, configuration)?;
        let child_ended = child_ended()?;
        let nowhere = session::nowhere()?;
        Ok(Self {
            interpreter,
            prepared: Prepared::new()?,
            nowhere,
            id: getpid(),
            child_ended,
            children: HashMap::new(),
        })
    }

    fn serve(
        mut self,
        control: &mut Control,
        configuration: &Configuration,
    ) -> Result<(), WorkerError> {
        loop {
            let (message, ended) = self.wait(control)?;
            if ended {
                self.reap(control)?;
            }
            if !message {
                continue;
            }
            let Some(received) = control.receive()? else {
                // The server is gone. Its sessions end too: the kernel kills the children with this process.
                return Ok(());
            };
            match received {
                (ToZygote::Start { session }, Some(stream)) => {
                    match self.interpreter.fork(stream)? {
                        Some(child) => drop(self.children.insert(child, session)),
                        None => return self.become_session(configuration),
                    }
                }
                (ToZygote::Kill { session }, _) => self.kill(session)?,
                (ToZygote::Ask, _) => control.send(&FromZygote::Alive)?,
                _ => return Err(WorkerError::Unexpected("a start without a stream")),
            }
        }
    }

    /// Blocks until a message of the server arrives (first) or a child ends (second).
    fn wait(&self, control: &Control) -> Result<(bool, bool), WorkerError> {
        let mut sources = [
            PollFd::new(control.socket.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.child_ended.as_fd(), PollFlags::POLLIN),
        ];
        match poll(&mut sources, PollTimeout::NONE) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(source) => return Err(WorkerError::system("wait for the server")(source)),
        }
        let [message, ended] = sources.map(|source| source.any().unwrap_or(false));
        Ok((message, ended))
    }

    fn reap(&mut self, control: &Control) -> Result<(), WorkerError> {
        while let Ok(Some(_)) = self.child_ended.read_signal() {}
        loop {
            let (child, exit) = match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(child, code)) => (child, Exit::Code(code)),
                Ok(WaitStatus::Signaled(child, signal, _)) => (child, Exit::Signal(signal as i32)),
                Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => return Ok(()),
                Ok(_) => continue,
                Err(source) => return Err(WorkerError::system("reap a child")(source)),
            };
            if let Some(session) = self.children.remove(&child) {
                control.send(&FromZygote::Exited { session, exit })?;
            }
        }
    }

    fn kill(&self, session: u64) -> Result<(), WorkerError> {
        let mut children = self.children.iter();
        match children.find(|(_, running)| **running == session) {
            // Not reaped yet, so no other process can have the id.
            Some((child, _)) => {
                kill(*child, Signal::SIGKILL).map_err(WorkerError::system("kill a session"))
            }
            None => Ok(()),
        }
    }

    /// In the child: closes everything of the zygote.
    fn become_session(self, configuration: &Configuration) -> Result<(), WorkerError> {
        drop(self.child_ended);
        if !lockdown::die_with(self.id)? {
            return Ok(());
        }
        let stream = session::take_stream(&self.nowhere)?;
        drop(self.nowhere);
        let weak = configuration.allow_weak_lockdown;
        session::run(&self.interpreter, self.prepared, stream, weak)?;
        self.interpreter.leave()
    }
}

/// Becomes readable when a child ends.
fn child_ended() -> Result<SignalFd, WorkerError> {
    let mut ended = SigSet::empty();
    ended.add(Signal::SIGCHLD);
    ended
        .thread_block()
        .and_then(|()| SignalFd::with_flags(&ended, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC))
        .map_err(WorkerError::system("wait for children"))
}

/// The socket of the server: standard input, in both directions.
struct Control {
    socket: Stdin,
    /// For the message that is received. The kernel copies each page that this process writes to after a fork.
    buffer: Vec<u8>,
}

impl Control {
    fn new() -> Self {
        Self {
            socket: stdin(),
            buffer: vec![0; MAX_MESSAGE_BYTES],
        }
    }

    fn configuration(&mut self) -> Result<Option<Configuration>, WorkerError> {
        let socket = self.socket.as_raw_fd();
        let size = recv(socket, &mut self.buffer, MsgFlags::empty())
            .map_err(WorkerError::NotStartedByServer)?;
        match size {
            0 => Ok(None),
            _ => match decode(&self.buffer[..size])? {
                ToZygote::Configure(configuration) => Ok(Some(configuration)),
                _ => Err(WorkerError::Unexpected("the first message configures")),
            },
        }
    }

    /// The next message and the number of the descriptor beside it. `None` when the server is gone.
    fn receive(&mut self) -> Result<Option<(ToZygote, Option<RawFd>)>, WorkerError> {
        let failed = WorkerError::system("receive a control message");
        let mut room = cmsg_space!(RawFd);
        let mut parts = [IoSliceMut::new(&mut self.buffer)];
        let (socket, flags) = (self.socket.as_raw_fd(), MsgFlags::MSG_CMSG_CLOEXEC);
        let received = recvmsg::<()>(socket, &mut parts, Some(&mut room), flags)
            .and_then(|message| Ok((message.bytes, stream(&message)?)));
        match received.map_err(failed)? {
            (0, _) => Ok(None),
            (size, stream) => Ok(Some((decode(&self.buffer[..size])?, stream))),
        }
    }

    fn send(&self, message: &FromZygote) -> Result<(), WorkerError> {
        let bytes = serde_json::to_vec(message).map_err(WorkerError::Control)?;
        match send(self.socket.as_raw_fd(), &bytes, MsgFlags::MSG_NOSIGNAL) {
            // The server is gone. Reading the next message will show it.
            Ok(_) | Err(Errno::EPIPE | Errno::ECONNRESET) => Ok(()),
            Err(source) => Err(WorkerError::system("report to the server")(source)),
        }
    }
}

fn stream(message: &RecvMsg<'_, '_, ()>) -> nix::Result<Option<RawFd>> {
    Ok(message.cmsgs()?.find_map(|part| match part {
        ControlMessageOwned::ScmRights(descriptors) => descriptors.first().copied(),
        _ => None,
    }))
}

fn decode(bytes: &[u8]) -> Result<ToZygote, WorkerError> {
    serde_json::from_slice(bytes).map_err(WorkerError::Control)
}
