//! Why nobody is signed in.

use std::path::PathBuf;

use crate::error::{CommandError, ExitCode};

#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    #[error("the issuer {url:?} cannot be used: {reason}")]
    Url { url: String, reason: String },
    #[error(
        "dm login needs an issuer and a client; give --issuer and --client-id, or add them to a context"
    )]
    Unknown,
    #[error("the issuer {url} cannot be reached: {reason}")]
    Unreachable { url: String, reason: String },
    #[error("the issuer's answer of {url} is not understood: {reason}")]
    Malformed { url: String, reason: String },
    #[error("the issuer has refused: {reason}")]
    Refused { reason: String },
    #[error("the issuer does not offer sign-in {0}")]
    NotOffered(&'static str),
    #[error("nobody signed in within {minutes} minutes")]
    TooLate { minutes: u64 },
    #[error("the issuer's token cannot be used: {0}")]
    Token(&'static str),
    #[error("{} cannot be used: {reason}", file.display())]
    File { file: PathBuf, reason: String },
    #[error("no folder for dm's tokens is known; set HOME")]
    NoHome,
    #[error("this machine gives no random numbers")]
    NoRandom,
    #[error("no address on this machine can be listened on: {0}")]
    Listen(std::io::Error),
}

impl CommandError for LoginError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Url { .. } | Self::Unknown => ExitCode::Usage,
            Self::Unreachable { .. } => ExitCode::Unavailable,
            Self::TooLate { .. } => ExitCode::Timeout,
            _ => ExitCode::Failed,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotOffered(what) if what.contains("browser") => "try dm login --device",
            Self::NotOffered(_) => "try dm login without --device",
            Self::Refused { .. } | Self::TooLate { .. } => "try dm login again",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}
