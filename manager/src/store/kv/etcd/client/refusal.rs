//! What a failed call to a member means.

use std::collections::BTreeMap;

use common::client::http::reason;
use reqwest::StatusCode;
use url::Url;

use super::rpc::Ended;
use crate::store::kv::KvError;

/// Codes of gRPC.
mod code {
    pub const INVALID_ARGUMENT: u32 = 3;
    pub const PERMISSION_DENIED: u32 = 7;
    pub const RESOURCE_EXHAUSTED: u32 = 8;
    pub const FAILED_PRECONDITION: u32 = 9;
    pub const OUT_OF_RANGE: u32 = 11;
    pub const UNAUTHENTICATED: u32 = 16;
    pub const NOT_FOUND: u32 = 5;
}

/// Why one call to one member has no answer.
#[derive(Debug)]
pub enum Attempt {
    /// Another member may answer, or this one later. A write may have happened.
    Away(String),
    /// What answers there is no etcd. Another address may be one.
    Stranger(KvError),
    /// A token is needed, or the one that was sent has ended.
    NoToken,
    /// No member would answer otherwise. Nothing was written.
    Refused(KvError),
}

pub fn away(url: &Url, error: &reqwest::Error) -> Attempt {
    match error.is_timeout() {
        true => Attempt::Away(format!("{} does not answer", member(url))),
        false => Attempt::Away(format!("{}: {}", member(url), reason(error))),
    }
}

/// A call that has ended without an answer.
pub fn read(url: &Url, ended: &Ended, has_user: bool) -> Attempt {
    let Ended { code, message } = ended;
    match *code {
        code::UNAUTHENTICATED => Attempt::NoToken,
        code::INVALID_ARGUMENT if is_about_tokens(message) && has_user => Attempt::NoToken,
        code::INVALID_ARGUMENT if is_about_tokens(message) => Attempt::Refused(no_user()),
        code::PERMISSION_DENIED => Attempt::Refused(denied(message)),
        code::RESOURCE_EXHAUSTED if message.contains("space exceeded") => {
            Attempt::Refused(no_space())
        }
        code::OUT_OF_RANGE if message.contains("compacted") => Attempt::Refused(compacted()),
        code::INVALID_ARGUMENT
        | code::NOT_FOUND
        | code::FAILED_PRECONDITION
        | code::OUT_OF_RANGE => Attempt::Refused(failed("used", message)),
        _ => Attempt::Away(format!("{}: {message}", member(url))),
    }
}

fn is_about_tokens(message: &str) -> bool {
    message.contains("user name is empty") || message.contains("auth revision")
}

fn member(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// An answer in a form that etcd does not use.
pub fn strange(url: &Url, error: &str) -> Attempt {
    let reason = format!(
        "what answers at {} is no etcd that this manager knows ({error}): check the addresses in --store",
        member(url)
    );
    Attempt::Stranger(failed("understood", &reason))
}

/// When no member has done what was asked, with what each said last.
pub fn unreachable(members: usize, said: &BTreeMap<usize, String>) -> KvError {
    let all: Vec<_> = said.values().map(String::as_str).collect();
    let reason = match (members, all.as_slice()) {
        (_, []) => "no member of etcd has answered in time".to_owned(),
        (1, [one, ..]) => (*one).to_owned(),
        (members, all) => format!(
            "none of the {members} members of etcd could do it ({}); most of them must be alive and reach each other, which etcdctl endpoint status --cluster shows",
            all.join("; ")
        ),
    };
    KvError::Unreachable { reason }
}

pub fn failed(action: &'static str, reason: &dyn std::fmt::Display) -> KvError {
    KvError::Failed {
        action,
        reason: reason.to_string(),
    }
}

pub fn no_user() -> KvError {
    failed(
        "opened",
        &"etcd asks who calls: set --store-user and --store-password-file",
    )
}

pub fn no_space() -> KvError {
    KvError::NoSpace
}

fn denied(message: &str) -> KvError {
    let reason =
        format!("{message}; grant the user of --store-user readwrite on the store's prefix");
    failed("used", &reason)
}

fn compacted() -> KvError {
    failed(
        "read as it was",
        &"etcd has compacted that revision meanwhile; try again, and let etcd keep revisions for an hour (--auto-compaction-retention)",
    )
}

/// What answers there speaks HTTP, and not as etcd does.
pub fn no_etcd(url: &Url, status: StatusCode) -> Attempt {
    let member = member(url);
    if status.is_server_error() {
        return Attempt::Away(format!("{member} answered {status}"));
    }
    let reason = format!("{member} is not an etcd ({status}): check the addresses in --store");
    Attempt::Stranger(failed("opened", &reason))
}

/// A write may have happened.
pub fn cut_off(url: &Url) -> Attempt {
    Attempt::Away(format!("{} broke its answer off", member(url)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_says_whether_another_member_may_answer_or_what_to_do() {
        let url = Url::parse("https://a:2379/v3/kv/txn").unwrap();
        for (code, message, expected) in [
            (14, "etcdserver: leader changed", "away"),
            (4, "etcdserver: request timed out", "away"),
            (8, "etcdserver: too many requests", "away"),
            (
                8,
                "etcdserver: mvcc: database space exceeded",
                "out of space",
            ),
            (
                11,
                "mvcc: required revision has been compacted",
                "compacted",
            ),
            (16, "etcdserver: invalid auth token", "token"),
            (3, "etcdserver: user name is empty", "--store-user"),
            (7, "etcdserver: permission denied", "readwrite"),
            (3, "etcdserver: request is too large", "too large"),
        ] {
            let ended = Ended {
                code,
                message: message.to_owned(),
            };
            let found = match read(&url, &ended, false) {
                Attempt::Away(reason) => format!("away {reason}"),
                Attempt::NoToken => "token".to_owned(),
                Attempt::Refused(error) | Attempt::Stranger(error) => error.to_string(),
            };
            assert!(found.contains(expected), "{message}: {found}");
        }
    }
}
