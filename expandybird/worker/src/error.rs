//! Faults of the worker itself, not of a template.

use expandybird_protocol::frame::FrameError;
use nix::errno::Errno;

#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    #[error(
        "standard input is not the server's socket: the expandybird service starts this program"
    )]
    NotStartedByServer(#[source] Errno),
    #[error("cannot {action}")]
    System {
        action: &'static str,
        #[source]
        source: Errno,
    },
    #[error("cannot {action}")]
    Io {
        action: &'static str,
        #[source]
        source: std::io::Error,
    },
    #[error("python cannot {action}: {reason}")]
    Python {
        action: &'static str,
        reason: String,
    },
    #[error("a control message is not the expected JSON")]
    Control(#[source] serde_json::Error),
    #[error("unexpected message: {0}")]
    Unexpected(&'static str),
    #[error("cannot talk to the server")]
    Frame(#[from] FrameError),
    #[error(transparent)]
    Confinement(#[from] expandybird_confinement::Error),
}

impl WorkerError {
    /// Names the action that the system refused.
    pub fn system(action: &'static str) -> impl FnOnce(Errno) -> Self {
        move |source| Self::System { action, source }
    }

    /// Names the request to Python that raised an exception.
    pub fn python(action: &'static str) -> impl FnOnce(pyo3::PyErr) -> Self {
        move |error| Self::Python {
            action,
            reason: error.to_string(),
        }
    }
}

/// An error with all its causes, on one line.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        text.push_str(": ");
        text.push_str(&source.to_string());
        cause = source.source();
    }
    text
}
