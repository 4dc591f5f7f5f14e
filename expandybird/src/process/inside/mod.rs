//! The expansion process: waits for requests and expands one after another.
//!
//! It is synchronous and trusts its server. It ends when the server closes the connection. It does not catch crashes: a
//! panic, or an exhausted stack or memory, ends it, and the server reports the reason.

mod confine;
mod host;
mod job;

use std::fs::File;
use std::io::{self, BufReader, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use expandybird_protocol::frame::{self, FrameError};
use nix::sys::resource::{UsageWho, getrusage};

use super::STACK_BYTES;
use super::message::{Expand, HEAD_BYTES, Head, Limits, Setup};
use super::note::NoteFile;
use job::Expansions;

/// A process that once used this much memory is replaced, because the allocator would keep much of it.
const WORN_KIB: i64 = 96 << 10;

#[derive(Debug, thiserror::Error)]
enum InsideError {
    #[error(
        "standard input is not the server's socket: the expandybird service starts this process"
    )]
    NotStartedByServer(#[source] FrameError),
    #[error("cannot {action}")]
    Io {
        action: &'static str,
        #[source]
        source: io::Error,
    },
    #[error(transparent)]
    Confinement(#[from] expandybird_confinement::Error),
    #[error("cannot talk to the server")]
    Frame(#[from] FrameError),
}

impl InsideError {
    fn io(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, source }
    }
}

/// Serves the server whose socket is standard input. Standard output is the note.
pub fn run() -> ExitCode {
    match serve() {
        Ok(code) => code,
        Err(error) => {
            eprintln!(
                "expandybird: {}",
                common::server::answer::error::chain(&error)
            );
            ExitCode::FAILURE
        }
    }
}

fn serve() -> Result<ExitCode, InsideError> {
    // The location of the panic without its message, which may quote the caller's input.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        eprintln!("panicked at {}", place.unwrap_or_default());
    }));
    let (stream, note) = descriptors().map_err(InsideError::io("take the server's files"))?;
    let Some(setup) =
        frame::read::<Setup>(&mut &stream).map_err(InsideError::NotStartedByServer)?
    else {
        return Ok(ExitCode::SUCCESS);
    };
    let weak = confine::process(&setup, STACK_BYTES as u64)?;
    let expanding = std::thread::Builder::new()
        .name("expansion".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || expand(&stream, note, setup.limits, weak))
        .map_err(InsideError::io("start a thread"))?;
    match expanding.join() {
        Ok(outcome) => outcome.map(|()| ExitCode::SUCCESS),
        // The panic was already reported.
        Err(_) => Ok(ExitCode::from(101)),
    }
}

fn descriptors() -> io::Result<(UnixStream, NoteFile)> {
    let stream = io::stdin().as_fd().try_clone_to_owned()?;
    let note = io::stdout().as_fd().try_clone_to_owned()?;
    Ok((
        UnixStream::from(stream),
        NoteFile::from_file(File::from(note)),
    ))
}

/// Runs on the thread with the known stack size.
fn expand(
    stream: &UnixStream,
    note: NoteFile,
    limits: Limits,
    weak: bool,
) -> Result<(), InsideError> {
    let weak = confine::threads() || weak;
    let broken = InsideError::io("talk to the server");
    (&mut &*stream)
        .write_all(&Head::Ready { weak }.encode())
        .map_err(broken)?;
    let mut requests = BufReader::with_capacity(64 << 10, stream);
    let expansions = Expansions::new(stream, note, limits);
    while let Some(request) = frame::read::<Expand>(&mut requests)? {
        let mut body = vec![0; request.body_bytes];
        requests
            .read_exact(&mut body)
            .map_err(InsideError::io("read a request"))?;
        let answer = expansions.answer(&request, body);
        answer.send(stream)?;
    }
    Ok(())
}

/// An answer with room for its head.
struct Answer {
    code: Option<common::api::error::ErrorCode>,
    bytes: Vec<u8>,
}

impl Answer {
    fn send(mut self, mut stream: &UnixStream) -> Result<(), InsideError> {
        let head = Head::Answer {
            code: self.code,
            bytes: self.bytes.len() - HEAD_BYTES,
            worn: is_worn(),
        };
        self.bytes[..HEAD_BYTES].copy_from_slice(&head.encode());
        stream
            .write_all(&self.bytes)
            .map_err(InsideError::io("answer a request"))
    }
}

/// Whether it ever used much memory. An unknown number is harmless: the limit still applies.
fn is_worn() -> bool {
    getrusage(UsageWho::RUSAGE_SELF).is_ok_and(|usage| usage.max_rss() > WORN_KIB)
}
