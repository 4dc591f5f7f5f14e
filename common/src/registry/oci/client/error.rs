//! Why a registry's answer is of no use.

use reqwest::StatusCode;

use super::redirect::REDIRECTS;

/// The maximum number of names in one list: ten times the templates of the largest registry that must be fast.
pub const NAMES: usize = 10_000;

#[derive(Debug, thiserror::Error)]
pub enum OciError<E: std::error::Error + 'static> {
    #[error(transparent)]
    Transport(E),
    #[error("{url} is not open to {}: the registry answered {status}", who(*.login))]
    Closed {
        url: String,
        login: bool,
        status: StatusCode,
    },
    #[error("{url} answered {status}")]
    Status { url: String, status: StatusCode },
    #[error("{url} returned an answer that cannot be read: {reason}")]
    Malformed { url: String, reason: String },
    #[error("{url} redirects more than {REDIRECTS} times, to nowhere, or from https to http")]
    Redirects { url: String },
    #[error("{url} redirects to another host, {to}; only blobs may be elsewhere")]
    Elsewhere { url: String, to: String },
    #[error("{url} does not have the digest that it was asked by")]
    Digest { url: String },
    #[error("{url} lists more than {NAMES} names")]
    TooManyNames { url: String },
}

fn who(login: bool) -> &'static str {
    match login {
        true => "this credential",
        false => "everybody, and no credential is set",
    }
}
