//! Static tokens: a file that lists their SHA-256 digests and users.
//!
//! A fast hash is sufficient and intended: a token has 256 random bits, so nobody can guess it. A slow hash would slow
//! every request, and invented tokens could be used to keep the manager busy. The file is not for passwords.

use std::path::Path;

use async_trait::async_trait;
use common::model::Identity;
use common::model::identity::Parts;
use common::reload::{Unusable, Watched};
use jiff::Timestamp;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::{AuthenticationError, Authenticator, ReservedNames};
use crate::auth::file;

/// The maximum number of tokens. Every request is compared with all of them.
const TOKENS: usize = 10_000;

/// The content of a minimal file.
const EXAMPLE: &str = "tokens: [{sha256: WHAT-SHA256SUM-PRINTED, user: NAME}]";

pub struct StaticTokens {
    file: Watched<Vec<Entry>>,
}

struct Entry {
    digest: [u8; 32],
    expires: Option<Timestamp>,
    identity: Identity,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    tokens: Vec<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    /// 64 hexadecimal digits, as `sha256sum` prints them.
    sha256: String,
    user: String,
    #[serde(default)]
    uid: Option<String>,
    #[serde(default)]
    groups: Vec<String>,
    #[serde(default)]
    expires: Option<Timestamp>,
}

impl StaticTokens {
    pub fn open(path: &Path, reserved: ReservedNames) -> Result<Self, Unusable> {
        let file = Watched::open(
            "the tokens of --auth-tokens",
            [path.to_owned()],
            move |contents| parse(&file::text(contents)?, &reserved),
        )?;
        Ok(Self { file })
    }
}

#[async_trait]
impl Authenticator for StaticTokens {
    async fn authenticate(&self, token: &str) -> Result<Identity, AuthenticationError> {
        let digest: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        let entries = self.file.get();
        // All are compared completely, so that the time reveals nothing.
        let found = entries.iter().fold(None, |found, entry| {
            let same = bool::from(entry.digest.ct_eq(&digest));
            if same { Some(entry) } else { found }
        });
        let unknown = || AuthenticationError::Refused("no static token".to_owned());
        let entry = found.ok_or_else(unknown)?;
        if entry.expires.is_some_and(|end| end <= Timestamp::now()) {
            let reason = format!("the static token of {} has expired", entry.identity.user());
            return Err(AuthenticationError::Refused(reason));
        }
        Ok(entry.identity.clone())
    }
}

fn parse(text: &str, reserved: &ReservedNames) -> Result<Vec<Entry>, String> {
    let file: File = file::document(text, EXAMPLE)?;
    if file.tokens.len() > TOKENS {
        return Err(format!("it has more than {TOKENS} tokens"));
    }
    let entries = file.tokens.into_iter().enumerate();
    let entries = entries.map(|(number, written)| {
        entry(written, reserved).map_err(|reason| format!("tokens[{number}]: {reason}"))
    });
    entries.collect()
}

fn entry(written: Written, reserved: &ReservedNames) -> Result<Entry, String> {
    let digest = digest(&written.sha256)
        .ok_or("sha256 is not the 64 hexadecimal digits that sha256sum writes")?;
    let parts = Parts {
        user: written.user,
        uid: written.uid,
        groups: written.groups,
        ..Parts::default()
    };
    Ok(Entry {
        digest,
        expires: written.expires,
        identity: reserved.identity(parts)?,
    })
}

fn digest(hex: &str) -> Option<[u8; 32]> {
    let digits: Option<Vec<u8>> = hex
        .chars()
        .map(|digit| {
            digit
                .to_digit(16)
                .and_then(|digit| u8::try_from(digit).ok())
        })
        .collect();
    let bytes: Vec<u8> = digits?
        .chunks(2)
        .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
        .collect();
    // 63 digits also make 32 bytes.
    (hex.len() == 64).then(|| bytes.try_into().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_a_mistake_is_refused_and_says_which_without_quoting_a_digest() {
        let digest = "ab".repeat(32);
        let cases = [
            ("tokens: 1".to_owned(), "invalid type"),
            ("tokens: []\nmore: 1".to_owned(), "unknown field `more`"),
            (
                format!("tokens: [{{sha256: {digest}}}]"),
                "missing field `user`",
            ),
            (
                format!("tokens: [{{sha256: {digest}, user: a, token: x}}]"),
                "unknown field `token`",
            ),
            (
                format!("tokens: [{{sha256: {digest}, user: \"\"}}]"),
                "tokens[0]: the user",
            ),
            (
                format!("tokens: [{{sha256: {}, user: a}}]", &digest[1..]),
                "64 hexadecimal digits",
            ),
            (
                format!("tokens: [{{sha256: x{}, user: a}}]", &digest[1..]),
                "64 hexadecimal digits",
            ),
        ];
        for (text, reason) in cases {
            let error = parse(&text, &ReservedNames::default()).err().unwrap();
            assert!(error.contains(reason), "{text}: {error}");
            assert!(!error.contains(&digest[1..]), "{error}");
        }
    }
}
