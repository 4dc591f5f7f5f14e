//! One zygote: the process that all session processes are forked from.
//!
//! Responsible for starting it and for what is sent to it. [`super::listener`] reads its reports.

use std::collections::HashMap;
use std::io::IoSlice;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use expandybird_protocol::control::{Configuration, Exit, FromZygote, ToZygote};
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, ControlMessage, MsgFlags, Shutdown, SockFlag, SockType, sendmsg, shutdown,
    socketpair,
};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::error::SandboxError;
use super::listener::{Running, Sessions, listen, lock};
use crate::admission::Permit;

/// Loading Python and its packages takes a tenth of a second, and longer from a cold disk.
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// The environment of the zygote: nothing from the server.
const ENVIRONMENT: [(&str, &str); 7] = [
    // One heap in huge pages, if the kernel has them: fork and exit take less time. The heap does not shrink, because
    // the kernel would have to clear a whole huge page again when it grows.
    ("PYTHONMALLOC", "malloc"),
    (
        "GLIBC_TUNABLES",
        "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=268435456",
    ),
    // Lazy binding would be repeated by every session, in memory pages of its own.
    ("LD_BIND_NOW", "1"),
    ("PYTHONHASHSEED", "0"),
    ("PYTHONNOUSERSITE", "1"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("PYTHONUTF8", "1"),
];

/// A warm interpreter. Dropping it ends it, and every session with it.
#[derive(Debug)]
pub(super) struct Zygote {
    control: Arc<OwnedFd>,
    sessions: Arc<Mutex<Sessions>>,
    pub(super) process_id: u32,
    pub(super) python_version: String,
}

/// The starter's view of a session's process.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) id: u64,
    pub(super) ended: oneshot::Receiver<Exit>,
}

impl Zygote {
    pub(super) async fn start(
        worker: &Path,
        configuration: Configuration,
    ) -> Result<Self, SandboxError> {
        let (ours, theirs) = control_sockets()?;
        let child = spawn(worker, theirs)?;
        let process_id = child.id();
        let control = Arc::new(ours);
        let sessions = Sessions::shared();
        let ready = listen(control.clone(), child, sessions.clone())?;
        let mut zygote = Self {
            control,
            sessions,
            process_id,
            python_version: String::new(),
        };
        zygote
            .send(&ToZygote::Configure(configuration), None)
            .map_err(|error| SandboxError::unavailable("configure the worker", &error))?;
        zygote.python_version = python_version(timeout(START_TIMEOUT, ready).await.ok())?;
        Ok(zygote)
    }

    /// Forks a process that talks on `stream`, and waits there for its session.
    pub(super) fn fork(&self, stream: &OwnedFd) -> Result<Started, SandboxError> {
        let (sender, ended) = oneshot::channel();
        let mut sessions = lock(&self.sessions);
        let id = sessions.next;
        sessions.next += 1;
        let Some(running) = &mut sessions.running else {
            return Err(SandboxError::Lost);
        };
        if let Err(error) = self.send(&ToZygote::Start { session: id }, Some(stream)) {
            tracing::debug!(%error, "the zygote takes no more messages");
            // Done here because the listener may notice it later: a retry must not get this zygote.
            sessions.running = None;
            self.hang_up();
            return Err(SandboxError::Lost);
        }
        let entry = Running {
            ended: sender,
            place: None,
        };
        running.insert(id, entry);
        Ok(Started { id, ended })
    }

    /// Takes a place in the pool for a waiting process. False if the process has ended.
    pub(super) fn occupy(&self, session: u64, place: Permit) -> bool {
        let mut sessions = lock(&self.sessions);
        let running = sessions
            .running
            .as_mut()
            .and_then(|all| all.get_mut(&session));
        match running {
            Some(running) => {
                running.place = Some(place);
                true
            }
            None => false,
        }
    }

    /// Ends the process of a session, unless it has ended by itself.
    pub(super) fn kill(&self, session: u64) {
        let running = match &lock(&self.sessions).running {
            Some(running) => running.contains_key(&session),
            None => false,
        };
        if running && let Err(error) = self.send(&ToZygote::Kill { session }, None) {
            // The zygote is gone, and its children with it.
            tracing::debug!(session, %error, "no zygote left to kill the session");
        }
    }

    pub(super) fn is_alive(&self) -> bool {
        lock(&self.sessions).running.is_some()
    }

    /// The number of processes that have a session.
    pub(super) fn running(&self) -> usize {
        let sessions = lock(&self.sessions);
        let running = sessions.running.iter().flat_map(HashMap::values);
        running.filter(|running| running.place.is_some()).count()
    }

    /// Both sides see the end of the stream: the zygote ends, and the listener reaps it.
    fn hang_up(&self) {
        if let Err(error) = shutdown(self.control.as_raw_fd(), Shutdown::Both) {
            tracing::debug!(%error, "the zygote's socket was closed already");
        }
    }

    fn send(&self, message: &ToZygote, stream: Option<&OwnedFd>) -> Result<(), Errno> {
        send(&self.control, message, stream)
    }
}

/// Never blocks. A zygote that does not read its few small messages is treated as dead.
pub(super) fn send(
    control: &OwnedFd,
    message: &ToZygote,
    stream: Option<&OwnedFd>,
) -> Result<(), Errno> {
    let bytes = serde_json::to_vec(message).map_err(|_| Errno::EINVAL)?;
    let descriptors: Vec<_> = stream.map(AsRawFd::as_raw_fd).into_iter().collect();
    let rights = [ControlMessage::ScmRights(&descriptors)];
    let rights = if descriptors.is_empty() {
        &[][..]
    } else {
        &rights[..]
    };
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
    let parts = [IoSlice::new(&bytes)];
    sendmsg::<()>(control.as_raw_fd(), &parts, rights, flags, None).map(drop)
}

impl Drop for Zygote {
    fn drop(&mut self) {
        self.hang_up();
    }
}

fn control_sockets() -> Result<(OwnedFd, OwnedFd), SandboxError> {
    let kind = (AddressFamily::Unix, SockType::SeqPacket);
    socketpair(kind.0, kind.1, None, SockFlag::SOCK_CLOEXEC)
        .map_err(|error| SandboxError::unavailable("make a control socket", &error))
}

fn spawn(worker: &Path, control: OwnedFd) -> Result<Child, SandboxError> {
    Command::new(worker)
        .env_clear()
        .envs(ENVIRONMENT)
        .current_dir("/")
        .stdin(Stdio::from(control))
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| SandboxError::unavailable(&format!("start {}", worker.display()), &error))
}

fn python_version(
    first: Option<Result<FromZygote, oneshot::error::RecvError>>,
) -> Result<String, SandboxError> {
    let reason = match first {
        Some(Ok(FromZygote::Ready { python_version })) => return Ok(python_version),
        Some(Ok(FromZygote::Failed { reason })) => reason,
        Some(Ok(FromZygote::Exited { .. } | FromZygote::Alive)) => {
            "the worker spoke out of turn".to_owned()
        }
        Some(Err(_)) => "the worker ended while starting; its reason is in the log".to_owned(),
        None => format!("the worker was not ready within {START_TIMEOUT:?}"),
    };
    Err(SandboxError::NotAvailable { reason })
}
