//! The life of a session's process: open, lock down, run templates until the server closes the connection.

use std::fs::{File, OpenOptions};
use std::io::BufReader;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use expandybird_protocol::frame;
use expandybird_protocol::session::{FromWorker, Open, ToWorker};
use nix::unistd::{dup2_stderr, dup2_stdin, dup2_stdout};

use crate::error::{WorkerError, chain};
use crate::interpreter::{Interpreter, Templates};
use crate::lockdown::{self, Prepared};

/// Serves a session.
pub fn run(
    interpreter: &Interpreter<'_>,
    prepared: Prepared,
    mut stream: UnixStream,
    allow_weak_lockdown: bool,
) -> Result<(), WorkerError> {
    // Before the server asks: a process is forked ahead, and work before the request arrives does not delay the
    // request. Where the kernel made no pages ahead, a rehearsal makes them.
    let lockdown = prepared.apply();
    interpreter.rehearse_once()?;
    let Some(open) = read_open(&mut stream)? else {
        return Ok(());
    };
    match lockdown.and_then(|report| lockdown::limit_resources(&open.limits).map(|()| report)) {
        Ok(report) if report.missing().is_empty() || allow_weak_lockdown => {
            frame::write(&mut stream, &FromWorker::Opened(report))?;
            let templates = interpreter.open(open)?;
            serve(&templates, stream)?;
            // Before any value is dropped, because that could run code of a template.
            interpreter.leave()
        }
        Ok(report) => refuse(&mut stream, report.missing().join(", ")),
        Err(error) => refuse(&mut stream, chain(&error)),
    }
}

/// The end of all standard streams.
pub fn nowhere() -> Result<File, WorkerError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/null")
        .map_err(|source| WorkerError::Io {
            action: "open /dev/null",
            source,
        })
}

/// The stream of the session is standard input: keeps it, and redirects the standard streams to nothing.
pub fn take_stream(nowhere: &File) -> Result<UnixStream, WorkerError> {
    let stream = std::io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .map_err(|source| WorkerError::Io {
            action: "take the session's stream",
            source,
        })?;
    dup2_stdin(nowhere)
        .and_then(|()| dup2_stdout(nowhere))
        .and_then(|()| dup2_stderr(nowhere))
        .map_err(WorkerError::system("replace the standard streams"))?;
    Ok(UnixStream::from(stream))
}

fn read_open(stream: &mut UnixStream) -> Result<Option<Open>, WorkerError> {
    match frame::read(stream)? {
        Some(ToWorker::Open(open)) => Ok(Some(open)),
        Some(ToWorker::Call(_)) => {
            Err(WorkerError::Unexpected("a call before the session is open"))
        }
        None => Ok(None),
    }
}

fn refuse(stream: &mut UnixStream, reason: String) -> Result<(), WorkerError> {
    Ok(frame::write(stream, &FromWorker::Refused { reason })?)
}

fn serve(templates: &Templates<'_>, stream: UnixStream) -> Result<(), WorkerError> {
    let mut stream = BufReader::new(stream);
    while let Some(message) = frame::read(&mut stream)? {
        let ToWorker::Call(call) = message else {
            return Err(WorkerError::Unexpected("a session opened twice"));
        };
        let answer = match templates.call(&call)? {
            Ok(output) => FromWorker::Returned(output),
            Err(failure) => FromWorker::Failed(failure),
        };
        frame::write(stream.get_mut(), &answer)?;
    }
    Ok(())
}
