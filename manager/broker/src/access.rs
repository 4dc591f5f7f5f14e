//! Who may call the broker: user names with passwords, and a bearer token.
//!
//! The files are read again when they change. Passwords are compared by their SHA-256 in constant time.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::reload::{Unusable, Watched};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The user of the bearer token.
const TOKEN_USER: &str = "broker";

/// The credentials of platforms.
pub struct Access {
    users: Option<Watched<Vec<User>>>,
    token: Option<Watched<[u8; 32]>>,
}

struct User {
    name: String,
    password: [u8; 32],
}

/// Why the broker does not start.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    #[error(
        "the service broker has no credentials: add --broker-basic-file or --broker-token-file"
    )]
    Open,
    #[error(transparent)]
    File(#[from] Unusable),
}

impl Access {
    /// # Errors
    /// Neither file is given, or one cannot be used.
    pub fn open(basic: Option<&Path>, token: Option<&Path>) -> Result<Self, AccessError> {
        if basic.is_none() && token.is_none() {
            return Err(AccessError::Open);
        }
        let users = basic.map(|file| {
            let what = "the users of --broker-basic-file";
            Watched::open(what, [file.to_owned()], |contents| users(&text(contents)?))
        });
        let token = token.map(|file| {
            let what = "the token of --broker-token-file";
            Watched::open(what, [file.to_owned()], |contents| {
                let token = text(contents)?;
                match token.trim() {
                    "" => Err("there is nothing in it".to_owned()),
                    token => Ok(digest(token)),
                }
            })
        });
        Ok(Self {
            users: users.transpose()?,
            token: token.transpose()?,
        })
    }

    /// The user of an `Authorization` header. None if it is not accepted.
    pub fn user(&self, header: &str) -> Option<String> {
        let (scheme, value) = header.split_once(' ')?;
        let value = value.trim();
        if scheme.eq_ignore_ascii_case("bearer") {
            let known = self.token.as_ref()?.get();
            let same = bool::from(known.ct_eq(&digest(value)));
            return same.then(|| TOKEN_USER.to_owned());
        }
        if !scheme.eq_ignore_ascii_case("basic") {
            return None;
        }
        let decoded = String::from_utf8(STANDARD.decode(value).ok()?).ok()?;
        let (name, password) = decoded.split_once(':')?;
        let (users, password) = (self.users.as_ref()?.get(), digest(password));
        // All are compared, so that the time reveals nothing.
        let found = users.iter().fold(false, |found, user| {
            let same = bool::from(user.password.ct_eq(&password));
            found | (same & (user.name == name))
        });
        found.then(|| name.to_owned())
    }
}

fn text(contents: &[Vec<u8>]) -> Result<String, String> {
    let bytes = contents.first().cloned().unwrap_or_default();
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}

/// `USER:PASSWORD` a line. Lines that begin with `#` are comments.
fn users(text: &str) -> Result<Vec<User>, String> {
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let users = lines.map(|(number, line)| {
        let fault = |reason: &str| format!("line {}: {reason}", number + 1);
        match line.split_once(':') {
            Some((name, password)) if !name.is_empty() && !password.is_empty() => Ok(User {
                name: name.to_owned(),
                password: digest(password),
            }),
            _ => Err(fault("write USER:PASSWORD")),
        }
    });
    let users: Vec<_> = users.collect::<Result<_, _>>()?;
    match users.is_empty() {
        true => Err("there is nothing in it; write USER:PASSWORD".to_owned()),
        false => Ok(users),
    }
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn basic(text: &str) -> String {
        format!("Basic {}", STANDARD.encode(text))
    }

    #[test]
    fn users_and_the_token_are_known_and_nobody_else_is() {
        let folder = tempfile::tempdir().unwrap();
        let (users, token) = (folder.path().join("users"), folder.path().join("token"));
        std::fs::write(&users, "# ours\nshop:s3cret:x\n\nother:pw\n").unwrap();
        std::fs::write(&token, "t0ken\n").unwrap();
        let access = Access::open(Some(&users), Some(&token)).unwrap();
        let known = [
            (basic("shop:s3cret:x"), Some("shop")),
            (basic("other:pw"), Some("other")),
            ("bearer t0ken".to_owned(), Some("broker")),
            (basic("shop:pw"), None),
            (basic("shop"), None),
            (basic("nobody:pw"), None),
            ("Basic ###".to_owned(), None),
            ("Bearer other".to_owned(), None),
            ("Digest t0ken".to_owned(), None),
            (String::new(), None),
        ];
        for (header, user) in known {
            assert_eq!(access.user(&header).as_deref(), user, "{header}");
        }
    }

    #[test]
    fn a_file_without_users_is_refused_and_says_what_to_write() {
        for (text, reason) in [
            ("", "nothing in it"),
            ("shop", "line 1: write USER:PASSWORD"),
            ("a:b\nshop:", "line 2"),
        ] {
            let refused = users(text).err().unwrap_or_default();
            assert!(refused.contains(reason), "{text:?}: {refused}");
        }
        assert!(matches!(Access::open(None, None), Err(AccessError::Open)));
    }
}
