//! What the end of a process means for its request.

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
    /// A crash of the engine, caused by a template.
    Panic,
    /// Its messages are not those of an expansion process.
    Garbled,
    Signal(i32),
    Exit(i32),
    /// Killed by the system, or ended before it began: no template is known to be the cause.
    Lost,
}

/// The end of a process, and its last step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Death {
    pub cause: Cause,
    pub note: Option<Note>,
}

impl Cause {
    /// `words`: the end of its standard error. Only the last words of the Rust runtime distinguish exhausted memory
    /// from an exhausted stack: both end in `SIGABRT`.
    pub fn from_exit(status: ExitStatus, words: &str) -> Self {
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

/// The limits for the text of an error.
#[derive(Debug, Clone, Copy)]
pub struct Named {
    pub timeout: Duration,
    pub memory_bytes: u64,
}

impl Death {
    /// Whether no input is known to be the cause: the process was killed from outside, or ended before it began.
    pub fn is_lost(&self) -> bool {
        match self.cause {
            Cause::Lost => true,
            Cause::Deadline | Cause::Garbled => false,
            _ => self.note.is_none(),
        }
    }

    /// The input that caused the end. `None` for a timeout, because the machine may be busy.
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
        let crashed =
            |why: &str| format!("{what} crashed its expansion process: {why}; simplify it");
        match self.cause {
            Cause::Deadline => format!(
                "{what} failed: the expansion took longer than its limit of {} s",
                named.timeout.as_secs_f32()
            ),
            Cause::Memory => format!(
                "{what} failed: the expansion used more memory than its limit of {} MiB",
                named.memory_bytes >> 20
            ),
            Cause::Stack => crashed("it is nested too deeply"),
            Cause::Panic => crashed("the engine has a fault; the server's log has the cause"),
            Cause::Garbled => crashed("the process returned an invalid answer"),
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
