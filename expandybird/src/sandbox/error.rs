//! Why a Python template has no result.

use common::api::error::ErrorCode;
use expandybird_protocol::control::{Exit, OUT_OF_MEMORY};
use expandybird_protocol::frame::FrameError;
use expandybird_protocol::session::{Failure, FailureKind, Limits};
use nix::sys::signal::Signal;

use super::lease::HowEnded;

/// One variant per result for the caller.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("{}: {}", .0.exception, .0.message)]
    TemplateRaised(Box<Failure>),
    #[error("the template has no function to call: {}", .0.message)]
    MissingFunction(Box<Failure>),
    #[error("the template's result is not data: {}", .0.message)]
    InvalidResult(Box<Failure>),
    #[error("the template tried something that templates may not do: {}", .0.message)]
    Forbidden(Box<Failure>),
    #[error("an import fails: {}", .0.message)]
    Import(Box<Failure>),
    #[error("the template made a system call that templates may not make, and was stopped")]
    ForbiddenSyscall,
    #[error("the template exceeded its time limit")]
    Timeout,
    #[error("the template exceeded its memory limit of {limit_bytes} bytes")]
    MemoryExceeded { limit_bytes: u64 },
    #[error("the template's result or printed output exceeds the limit of {limit_bytes} bytes")]
    OutputTooLarge { limit_bytes: usize },
    #[error("the template's process ended unexpectedly: {}", how(*.exit))]
    WorkerDied { exit: Exit },
    #[error("the template's process was lost, but the template is not the cause; try again")]
    Lost,
    #[error("the session is over: an earlier call ended it")]
    SessionOver,
    #[error("all {sessions} processes for templates are busy; try again")]
    Busy { sessions: usize },
    /// In the form for an expansion process.
    #[error("{message}")]
    NotGranted { code: ErrorCode, message: String },
    #[error("python templates cannot be run: {reason}")]
    NotAvailable { reason: String },
    #[error("failed to talk to the template's process")]
    Protocol(#[from] FrameError),
    #[error("the template's process sent an unexpected message")]
    OutOfTurn,
}

impl SandboxError {
    /// Its code in the table of error codes.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::TemplateRaised(_) | Self::MissingFunction(_) | Self::InvalidResult(_) => {
                ErrorCode::TemplateFailed
            }
            Self::Forbidden(_) | Self::ForbiddenSyscall => ErrorCode::TemplateForbidden,
            Self::Import(_) => ErrorCode::TemplateImport,
            Self::Timeout => ErrorCode::TemplateTimeout,
            Self::MemoryExceeded { .. } => ErrorCode::TemplateMemory,
            Self::OutputTooLarge { .. } => ErrorCode::TemplateOutput,
            // Only a template can crash its own process, or corrupt its messages.
            Self::WorkerDied { .. } | Self::Protocol(_) | Self::OutOfTurn => {
                ErrorCode::TemplateCrashed
            }
            Self::Lost | Self::Busy { .. } => ErrorCode::Unavailable,
            Self::NotGranted { code, .. } => *code,
            Self::NotAvailable { .. } => ErrorCode::ExpanderUnavailable,
            Self::SessionOver => ErrorCode::Internal,
        }
    }

    /// The template's own frames and the hint, if Python raised the error.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::TemplateRaised(failure)
            | Self::MissingFunction(failure)
            | Self::InvalidResult(failure)
            | Self::Forbidden(failure)
            | Self::Import(failure) => Some(failure),
            Self::ForbiddenSyscall
            | Self::Timeout
            | Self::MemoryExceeded { .. }
            | Self::OutputTooLarge { .. }
            | Self::WorkerDied { .. }
            | Self::Lost
            | Self::SessionOver
            | Self::Busy { .. }
            | Self::NotGranted { .. }
            | Self::NotAvailable { .. }
            | Self::Protocol(_)
            | Self::OutOfTurn => None,
        }
    }

    pub(super) fn unavailable(what: &str, error: &dyn std::error::Error) -> Self {
        let reason = format!("cannot {what}: {error}");
        Self::NotAvailable { reason }
    }

    pub(super) fn from_failure(failure: Failure, limits: &Limits) -> Self {
        let kind = failure.kind;
        let failure = Box::new(failure);
        match kind {
            FailureKind::Raised => Self::TemplateRaised(failure),
            FailureKind::Forbidden => Self::Forbidden(failure),
            FailureKind::Import => Self::Import(failure),
            FailureKind::MissingFunction => Self::MissingFunction(failure),
            FailureKind::InvalidResult => Self::InvalidResult(failure),
            FailureKind::Memory => Self::MemoryExceeded {
                limit_bytes: limits.memory_bytes,
            },
            FailureKind::OutputTooLarge => Self::OutputTooLarge {
                limit_bytes: limits.output_bytes,
            },
        }
    }

    /// What the end of a process during a call means for the template.
    fn from_exit(exit: Exit, limits: &Limits) -> Self {
        match exit {
            Exit::Code(OUT_OF_MEMORY) => Self::MemoryExceeded {
                limit_bytes: limits.memory_bytes,
            },
            Exit::Signal(signal) if signal == Signal::SIGSYS as i32 => Self::ForbiddenSyscall,
            Exit::Signal(signal) if signal == Signal::SIGXCPU as i32 => Self::Timeout,
            Exit::Signal(_) | Exit::Code(_) => Self::WorkerDied { exit },
        }
    }
}

/// What the end of a process that closed its stream during a call means. `limits`: those of its session.
pub fn ended(how: HowEnded, limits: &Limits) -> SandboxError {
    match how {
        HowEnded::Exit(exit) => SandboxError::from_exit(exit, limits),
        HowEnded::Lost => SandboxError::Lost,
        HowEnded::Running => SandboxError::OutOfTurn,
    }
}

fn how(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(number) => match Signal::try_from(number) {
            Ok(Signal::SIGKILL) => "killed by the system, which may be out of memory".to_owned(),
            Ok(signal) => format!("killed by {signal}"),
            Err(_) => format!("killed by signal {number}"),
        },
    }
}
