//! How a command fails: what is wrong, what to do next, and the exit code for scripts.
//!
//! Each room has its own errors. This room has what they have in common, [`CommandError`], and the two tables by the error
//! codes of the services: exit codes and hints.

mod exit_code;
mod hint;
mod service;
mod sources;
mod wording;

use common::api::error::ErrorBody;
use common::model::NameError;

pub use exit_code::{ExitCode, exit_code};
pub use hint::{hint_for, hint_for_body};
pub use sources::Sources;
pub use wording::with_flags;

/// An error that can end a command.
pub trait CommandError: std::error::Error + 'static {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Failed
    }

    /// The error that a service returned, if that is the reason.
    fn body(&self) -> Option<&ErrorBody> {
        None
    }

    /// The local files that a service's error can point into.
    fn sources(&self) -> Option<&Sources> {
        None
    }

    /// What to do next.
    fn hint(&self) -> Option<String> {
        None
    }
}

impl CommandError for NameError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Usage
    }
}

/// Why a command failed: the error of any room.
#[derive(Debug)]
pub struct Failure(Box<dyn CommandError>);

impl<E: CommandError> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(Box::new(error))
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// An error that is only a sentence and an exit code.
#[derive(Debug, thiserror::Error)]
#[error("{sentence}")]
struct Plain {
    code: ExitCode,
    sentence: String,
}

impl CommandError for Plain {
    fn exit_code(&self) -> ExitCode {
        self.code
    }
}

impl Failure {
    fn new(code: ExitCode, sentence: impl Into<String>) -> Self {
        let sentence = sentence.into();
        Plain { code, sentence }.into()
    }

    /// The command line itself is wrong.
    pub fn usage(sentence: impl Into<String>) -> Self {
        Self::new(ExitCode::Usage, sentence)
    }

    pub fn failed(sentence: impl Into<String>) -> Self {
        Self::new(ExitCode::Failed, sentence)
    }

    pub fn not_found(sentence: impl Into<String>) -> Self {
        Self::new(ExitCode::NotFound, sentence)
    }

    pub fn exit_code(&self) -> ExitCode {
        self.0.exit_code()
    }

    pub fn body(&self) -> Option<&ErrorBody> {
        self.0.body()
    }

    pub fn sources(&self) -> Option<&Sources> {
        self.0.sources()
    }

    pub fn hint(&self) -> Option<String> {
        self.0.hint()
    }
}
