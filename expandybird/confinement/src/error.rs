//! Why a process could not be confined.

use nix::errno::Errno;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot {action}")]
    System {
        action: &'static str,
        #[source]
        source: Errno,
    },
    #[error("cannot prepare the file rules")]
    FileRules(#[source] landlock::RulesetError),
    #[error("cannot open {folder} for the file rules")]
    Folder {
        folder: String,
        #[source]
        source: landlock::PathFdError,
    },
    #[error("cannot prepare the system call filters: {0}")]
    SystemCalls(String),
}

impl Error {
    /// Names the action that the system refused.
    pub(crate) fn system(action: &'static str) -> impl FnOnce(Errno) -> Self {
        move |source| Self::System { action, source }
    }
}
