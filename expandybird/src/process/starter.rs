//! The thread that starts and reaps expansion processes.
//!
//! It is always the same thread, because the kernel ends a process when the *thread* that started it ends. Only this
//! thread waits for processes, so no signal can reach another process with a reused id.

use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use expandybird_protocol::frame;
use tokio::sync::oneshot;

use super::death::{Cause, Death};
use super::message::{HEAD_BYTES, Head, Setup};
use super::note::NoteFile;

/// The hidden first argument that makes this program an expansion process.
pub const ARGUMENT: &str = "expansion-process";

/// Starting takes milliseconds. Only an overloaded machine takes this long.
const START_TIMEOUT: Duration = Duration::from_secs(20);
/// How much of a process's standard error is read.
const WORDS_BYTES: u64 = 4096;

/// The environment of a process: nothing from the server. One arena keeps the allocator's overhead small. The next request
/// takes what a request frees: small blocks stay in the thread's cache, and the heap does not shrink. A process that
/// once used much memory is replaced.
const ENVIRONMENT: [(&str, &str); 2] = [
    ("MALLOC_ARENA_MAX", "1"),
    (
        "GLIBC_TUNABLES",
        "glibc.malloc.tcache_count=127:glibc.malloc.trim_threshold=67108864",
    ),
];

/// A process that waits for a request.
#[derive(Debug)]
pub struct Process {
    pub child: Child,
    /// Does not block.
    pub stream: UnixStream,
    pub note: NoteFile,
    stderr: ChildStderr,
}

enum Order {
    Start(oneshot::Sender<io::Result<Process>>),
    Bury(Box<Process>, oneshot::Sender<Death>),
}

/// When the last of these is dropped, the thread ends, and all processes with it.
#[derive(Debug, Clone)]
pub struct Starter(Sender<Order>);

impl Starter {
    pub fn new(program: PathBuf, setup: Setup) -> io::Result<Self> {
        let (orders, received) = channel();
        std::thread::Builder::new()
            .name("expansion-starter".to_owned())
            .spawn(move || work(&program, &setup, &received))?;
        Ok(Self(orders))
    }

    pub async fn start(&self) -> io::Result<Process> {
        let (answer, started) = oneshot::channel();
        self.order(Order::Start(answer))?;
        started.await.unwrap_or_else(|_| Err(ended()))
    }

    /// Kills a process, and returns how it ended.
    pub fn bury(&self, mut process: Box<Process>) -> oneshot::Receiver<Death> {
        let (answer, buried) = oneshot::channel();
        if let Err(error) = process.child.kill() {
            tracing::debug!(%error, "an expansion process had ended before it was killed");
        }
        if self.order(Order::Bury(process, answer)).is_err() {
            tracing::debug!("the thread that buries processes has ended, and they end with it");
        }
        buried
    }

    fn order(&self, order: Order) -> io::Result<()> {
        self.0.send(order).map_err(|_| ended())
    }
}

fn ended() -> io::Error {
    io::Error::other("the thread that starts expansion processes has ended")
}

fn work(program: &PathBuf, setup: &Setup, orders: &Receiver<Order>) {
    while let Ok(order) = orders.recv() {
        match order {
            Order::Start(answer) => {
                let started = start(program, setup);
                // The caller may have gone away. The process then ends with the answer.
                if let Err(Ok(unwanted)) = answer.send(started) {
                    drop(end(unwanted));
                }
            }
            Order::Bury(process, answer) => {
                let death = end(*process);
                // Most are killed because no client waits any more.
                drop(answer.send(death));
            }
        }
    }
}

fn start(program: &PathBuf, setup: &Setup) -> io::Result<Process> {
    let (ours, theirs) = UnixStream::pair()?;
    let note = NoteFile::new()?;
    let mut child = Command::new(program)
        .arg0("expandybird")
        .arg(ARGUMENT)
        .env_clear()
        .envs(ENVIRONMENT)
        .current_dir("/")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::from(note.file().try_clone()?))
        .stderr(Stdio::piped())
        .spawn()?;
    let Some(stderr) = child.stderr.take() else {
        return Err(io::Error::other("the process has no standard error"));
    };
    let process = Process {
        child,
        stream: ours,
        note,
        stderr,
    };
    match greet(&process.stream, setup) {
        Ok(weak) => {
            if weak {
                tracing::warn!(
                    "this kernel cannot confine the processes that expand configurations as it should: they run with less protection; Landlock needs Linux 5.13 or later"
                );
            }
            process.stream.set_nonblocking(true)?;
            Ok(process)
        }
        Err(error) => {
            let mut process = process;
            let killed = process.child.kill();
            let words = last_words(&mut process.stderr);
            let status = process.child.wait();
            tracing::debug!(?killed, ?status, "an expansion process did not start");
            Err(io::Error::other(format!("{error}: {}", words.trim())))
        }
    }
}

/// Configures the process and waits until it is ready. Returns whether its confinement is weak.
fn greet(stream: &UnixStream, setup: &Setup) -> io::Result<bool> {
    stream.set_read_timeout(Some(START_TIMEOUT))?;
    frame::write(&mut &*stream, setup).map_err(io::Error::other)?;
    let mut head = [0; HEAD_BYTES];
    (&*stream).read_exact(&mut head)?;
    match Head::decode(head) {
        Some(Head::Ready { weak }) => Ok(weak),
        _ => Err(io::Error::other(
            "the process does not say that it is ready",
        )),
    }
}

fn end(mut process: Process) -> Death {
    if let Err(error) = process.child.kill() {
        tracing::debug!(%error, "an expansion process had ended before it was killed");
    }
    // The note and the standard error are final: the process is dead, or dies before it can run again.
    let status = process.child.wait();
    let words = last_words(&mut process.stderr);
    let cause = match status {
        Ok(status) => {
            tracing::debug!(%status, words = words.trim(), "an expansion process has ended");
            Cause::from_exit(status, &words)
        }
        Err(error) => {
            tracing::error!(%error, "cannot wait for an expansion process");
            Cause::Lost
        }
    };
    Death {
        cause,
        note: process.note.read(),
    }
}

/// The process is dead or about to die, so its standard error ends.
fn last_words(stderr: &mut ChildStderr) -> String {
    let mut words = Vec::new();
    if let Err(error) = stderr.take(WORDS_BYTES).read_to_end(&mut words) {
        tracing::debug!(%error, "the last words of a process cannot be read");
    }
    String::from_utf8_lossy(&words).into_owned()
}
