//! Hears the zygote: how each session's process ended, and that it still answers.
//!
//! A thread of its own reads from the zygote, so a session learns of its end without any particular async runtime.

use std::collections::HashMap;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::process::Child;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use expandybird_protocol::control::{Exit, FromZygote, MAX_MESSAGE_BYTES, ToZygote};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{MsgFlags, recv};
use tokio::sync::oneshot;

use super::error::SandboxError;
use super::process::send;
use crate::admission::Permit;

/// While sessions run, a silent zygote is asked this often.
const TICK_MILLISECONDS: u16 = 1000;
/// So many ticks without an answer, and it is ended. Ticks and not a time: they do not pass while this process is
/// stopped, too.
const ANSWER_TICKS: u32 = 5;

/// The sessions whose processes are running. `None` after the zygote has ended.
#[derive(Debug)]
pub(super) struct Sessions {
    pub(super) next: u64,
    pub(super) running: Option<HashMap<u64, Running>>,
}

#[derive(Debug)]
pub(super) struct Running {
    pub(super) ended: oneshot::Sender<Exit>,
    /// The place in the pool, held until the process is reaped, not only until its session is dropped. `None` while the
    /// process waits for its session.
    pub(super) place: Option<Permit>,
}

impl Sessions {
    pub(super) fn shared() -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self {
            next: 0,
            running: Some(HashMap::new()),
        }))
    }

    /// Whether no request waits for the zygote: all processes wait for their sessions.
    fn is_idle(&self) -> bool {
        let mut running = self.running.iter().flat_map(HashMap::values);
        running.all(|running| running.place.is_none())
    }
}

/// Reads the zygote's messages in a thread. The receiver gets the first one.
pub(super) fn listen(
    control: Arc<OwnedFd>,
    child: Child,
    sessions: Arc<Mutex<Sessions>>,
) -> Result<oneshot::Receiver<FromZygote>, SandboxError> {
    let (first, ready) = oneshot::channel();
    let hear = move || {
        let mut first = Some(first);
        while let Some(message) = next(&control, &sessions) {
            match (message, first.take()) {
                (message, Some(first)) => drop(first.send(message)),
                (FromZygote::Exited { session, exit }, None) => ended(&sessions, session, exit),
                (FromZygote::Alive, None) => {}
                (message, None) => tracing::warn!(?message, "the zygote spoke out of turn"),
            }
        }
        // Dropping the senders reports the end to every session.
        lock(&sessions).running = None;
        reap(child);
    };
    thread::Builder::new()
        .name("sandbox-zygote".to_owned())
        .spawn(hear)
        .map_err(|error| SandboxError::unavailable("start a thread", &error))?;
    Ok(ready)
}

/// The next message. `None` if the zygote has ended, or does not answer. It answers at once unless it is stopped: no
/// template runs in it.
fn next(control: &OwnedFd, sessions: &Mutex<Sessions>) -> Option<FromZygote> {
    let mut silent = 0;
    while !is_readable(control)? {
        if lock(sessions).is_idle() {
            silent = 0;
            continue;
        }
        if silent == ANSWER_TICKS {
            tracing::error!("the zygote does not answer; it and its sessions are ended");
            return None;
        }
        silent += 1;
        if let Err(error) = send(control, &ToZygote::Ask, None) {
            tracing::debug!(%error, "the zygote takes no more messages");
            return None;
        }
    }
    receive(control)
}

/// Whether there is a message, or the end. False after a tick without.
fn is_readable(control: &OwnedFd) -> Option<bool> {
    let mut sources = [PollFd::new(control.as_fd(), PollFlags::POLLIN)];
    match poll(&mut sources, PollTimeout::from(TICK_MILLISECONDS)) {
        Ok(ready) => Some(ready > 0),
        Err(Errno::EINTR) => Some(false),
        Err(error) => {
            tracing::error!(%error, "the zygote's socket cannot be watched");
            None
        }
    }
}

fn receive(control: &OwnedFd) -> Option<FromZygote> {
    let mut buffer = [0; MAX_MESSAGE_BYTES];
    loop {
        match recv(control.as_raw_fd(), &mut buffer, MsgFlags::empty()) {
            Ok(0) => return None,
            Ok(size) => match serde_json::from_slice(&buffer[..size]) {
                Ok(message) => return Some(message),
                Err(error) => {
                    tracing::error!(%error, "the zygote's message is not understood");
                    return None;
                }
            },
            Err(Errno::EINTR) => {}
            Err(error) => {
                tracing::error!(%error, "the zygote's socket broke");
                return None;
            }
        }
    }
}

fn ended(sessions: &Mutex<Sessions>, session: u64, exit: Exit) {
    let mut sessions = lock(sessions);
    let running = sessions
        .running
        .as_mut()
        .and_then(|all| all.remove(&session));
    if let Some(running) = running {
        // There is no receiver if the session was dropped, which is how most end.
        let _ = running.ended.send(exit);
    }
}

/// Also ends a zygote that is stopped.
fn reap(mut child: Child) {
    let status = child.kill().and_then(|()| child.wait());
    match status {
        Ok(status) => tracing::debug!(%status, "the zygote has ended"),
        Err(error) => tracing::error!(%error, "failed to end the zygote"),
    }
}

/// A poisoned lock still guards a valid map: no code under it can leave it half changed.
pub(super) fn lock(sessions: &Mutex<Sessions>) -> MutexGuard<'_, Sessions> {
    sessions.lock().unwrap_or_else(PoisonError::into_inner)
}
