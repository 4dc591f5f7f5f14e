//! The secret that the services share: its holder is the manager.
//!
//! A file has one token per line. Empty lines and lines that start with `#` are ignored. All tokens are accepted, and
//! the first one is sent. To change a token without a gap: append the new token on all services, then move it to the
//! first line, then remove the old one.

use std::path::Path;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use crate::reload::{Unusable, Watched};

/// Shorter tokens can be guessed.
const CHARS_MIN: usize = 16;
/// Longer tokens do not fit well into a header.
const CHARS_MAX: usize = 4096;
/// Two are enough to replace one with another.
const TOKENS: usize = 100;

/// The current tokens of a file.
#[derive(Debug, Clone)]
pub struct ServiceTokens(Arc<Watched<Vec<String>>>);

impl ServiceTokens {
    pub fn open(file: &Path) -> Result<Self, Unusable> {
        let what = format!("the service token file {}", file.display());
        let watched = Watched::open(what, [file.to_owned()], |contents| {
            parse(&String::from_utf8_lossy(&contents.concat()))
        })?;
        Ok(Self(Arc::new(watched)))
    }

    /// The token to send. A file without tokens is not accepted.
    pub fn to_send(&self) -> Option<String> {
        self.0.get().first().cloned()
    }

    /// Whether it is one of the tokens. The time of the comparison does not depend on how similar they are, or on which
    /// one matches.
    pub fn accept(&self, offered: &str) -> bool {
        let offered = Sha256::digest(offered.as_bytes());
        let tokens = self.0.get();
        let found = tokens.iter().fold(Choice::from(0), |found, token| {
            found | Sha256::digest(token.as_bytes()).ct_eq(&offered)
        });
        found.into()
    }
}

fn parse(text: &str) -> Result<Vec<String>, String> {
    let lines = text.lines().map(str::trim);
    let tokens: Vec<_> = lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect();
    // A token itself must never be part of a message.
    if tokens.is_empty() || tokens.len() > TOKENS {
        return Err(format!(
            "it must contain 1 to {TOKENS} tokens, one per line"
        ));
    }
    let good = |token: &String| {
        (CHARS_MIN..=CHARS_MAX).contains(&token.len())
            && token.bytes().all(|byte| byte.is_ascii_graphic())
    };
    match tokens.iter().position(|token| !good(token)) {
        Some(bad) => Err(format!(
            "token {} must be {CHARS_MIN} to {CHARS_MAX} visible ASCII characters without spaces; `openssl rand -hex 32` makes one",
            bad + 1
        )),
        None => Ok(tokens),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_sent_and_all_are_accepted() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = "# new\nnew-0123456789abcdef\n\n  old-0123456789abcdef  \r\n";
        std::fs::write(file.path(), text).unwrap();
        let tokens = ServiceTokens::open(file.path()).unwrap();
        assert_eq!(tokens.to_send().as_deref(), Some("new-0123456789abcdef"));
        assert!(tokens.accept("new-0123456789abcdef") && tokens.accept("old-0123456789abcdef"));
        for bad in ["", "# new", "new-0123456789abcde", "new-0123456789abcdef "] {
            assert!(!tokens.accept(bad), "{bad}");
        }
    }

    #[test]
    fn a_file_that_holds_no_good_token_is_refused_without_telling_it() {
        for bad in [
            "",
            "# only\n",
            "tiny-secret",
            "with space-0123456789",
            "ä0123456789abcdef",
        ] {
            let reason = parse(bad).unwrap_err();
            assert!(
                !reason.contains("secret") && !reason.contains("0123"),
                "{reason}"
            );
        }
    }
}
