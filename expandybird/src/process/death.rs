//! What the end of a process says about the request that it had.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use common::api::error::{ErrorBody, ErrorCode};
use nix::sys::signal::Signal;

use super::note::{Digest, Note};

/// Why a request has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    Deadline,
    Memory,
    Stack,
    /// A fault of the engine, which a template brought about.
    Panic,
    /// What it says is not what an expansion process says.
    Garbled,
    Signal(i32),
    Exit(i32),
    /// Killed by the system, or gone before it began: no template is known to be at fault.
    Lost,
}

/// A process's end, and what it was at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Death {
    pub cause: Cause,
    pub note: Option<Note>,
}

impl Cause {
    /// `words`: the end of what it wrote to its standard error. The Rust runtime's last words are the only
    /// way to tell memory from stack: both end in `SIGABRT`.
    pub fn of(status: ExitStatus, words: &str) -> Self {
        let killed = status.signal() == Some(Signal::SIGKILL as i32);
        if words.contains("has overflowed its stack") {
            Self::Stack
        } else if words.contains("memory allocation of ") || words.contains("out of memory") {
            Self::Memory
        } else if killed {
            Self::Lost
        } else if words.contains("panicked") {
            Self::Panic
        } else {
            match (status.signal(), status.code()) {
                (Some(signal), _) if signal == Signal::SIGXCPU as i32 => Self::Deadline,
                (Some(signal), _) => Self::Signal(signal),
                (None, code) => Self::Exit(code.unwrap_or_default()),
            }
        }
    }

    fn code(self) -> ErrorCode {
        match self {
            Self::Deadline => ErrorCode::TemplateTimeout,
            Self::Memory => ErrorCode::TemplateMemory,
            Self::Stack | Self::Panic | Self::Garbled | Self::Signal(_) | Self::Exit(_) => {
                ErrorCode::TemplateCrashed
            }
            Self::Lost => ErrorCode::Unavailable,
        }
    }
}

/// The limits that an error names.
#[derive(Debug, Clone, Copy)]
pub struct Named {
    pub timeout: Duration,
    pub memory_bytes: u64,
}

impl Death {
    /// Whether nobody's input is at fault, as far as anybody knows: it was killed from outside, or ended
    /// before it began.
    pub fn is_lost(&self) -> bool {
        match self.cause {
            Cause::Lost => true,
            Cause::Deadline | Cause::Garbled => false,
            _ => self.note.is_none(),
        }
    }

    /// What did it, if it was the input and not its time: that may be long because the machine is busy.
    pub fn culprit(&self) -> Option<Digest> {
        match self.cause {
            Cause::Deadline | Cause::Lost => None,
            _ => self.note.as_ref()?.digest,
        }
    }

    pub fn error(&self, named: Named) -> ErrorBody {
        let what = match &self.note {
            Some(note) => note.what(),
            None => "the request".to_owned(),
        };
        let body = ErrorBody::new(self.cause.code(), self.message(&what, named));
        match &self.note {
            Some(note) => body.at(note.location()),
            None => body,
        }
    }

    fn message(&self, what: &str, named: Named) -> String {
        let crashed = |why: &str| {
            format!("{what} brought down the process that expands it: {why}; simplify it")
        };
        match self.cause {
            Cause::Deadline => format!(
                "{what} failed: the expansion took longer than {} s, which is the most it may",
                named.timeout.as_secs_f32()
            ),
            Cause::Memory => format!(
                "{what} failed: the expansion used more memory than it may ({} MiB)",
                named.memory_bytes >> 20
            ),
            Cause::Stack => crashed("it is nested too deeply"),
            Cause::Panic => crashed("it meets a fault of the engine, which is in the server's log"),
            Cause::Garbled => crashed("the process gave an answer that is none"),
            Cause::Signal(number) => match Signal::try_from(number) {
                Ok(signal) => crashed(&format!("the process was killed by {signal}")),
                Err(_) => crashed(&format!("the process was killed by signal {number}")),
            },
            Cause::Exit(code) => crashed(&format!("the process ended with exit code {code}")),
            Cause::Lost => format!(
                "the process that expands {what} was killed twice, not by the server; the machine may be short of memory; try again"
            ),
        }
    }
}
