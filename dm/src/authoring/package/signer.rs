//! Signs with a minisign secret key.

use std::fs::File;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::model::Secret;
use common::registry::PathError;
use minisign::{PError, PublicKey, SecretKey, SecretKeyBox};

use crate::bundle::files;
use crate::error::CommandError;

const PASSWORD: &str = "DM_SIGNING_PASSWORD";

#[derive(Debug, thiserror::Error)]
pub enum SignError {
    #[error("{} cannot be read: {reason}", file.display())]
    Unreadable { file: PathBuf, reason: String },
    #[error("{} is not a minisign secret key; make a pair with minisign -G", .0.display())]
    NoKey(PathBuf),
    #[error("{} has a password; set {PASSWORD}, or sign on a terminal", .0.display())]
    NoPassword(PathBuf),
    #[error("{} is a damaged secret key: its public half does not verify its signatures; restore it from a backup", .0.display())]
    Damaged(PathBuf),
    #[error("{} cannot be decrypted: {error}", file.display())]
    Closed { file: PathBuf, error: PError },
    #[error("the password cannot be read: {0}")]
    Prompt(std::io::Error),
    #[error("the list of files cannot be signed: {0}")]
    Unsigned(PError),
    #[error(transparent)]
    Path(#[from] PathError),
}

impl CommandError for SignError {}

pub struct Signer(SecretKey);

impl Signer {
    /// The password of a key comes from the environment, or from the user at the terminal.
    pub fn open(file: &Path, interactive: bool) -> Result<Self, SignError> {
        let unreadable = |reason: String| SignError::Unreadable {
            file: file.to_owned(),
            reason,
        };
        let opened = File::open(file).map_err(|error| unreadable(error.to_string()))?;
        let text = files::text(opened).map_err(|error| unreadable(error.to_string()))?;
        let has_password = has_password(&text).ok_or_else(|| SignError::NoKey(file.to_owned()))?;
        let opened = match has_password {
            false => open_key(&text).ok_or_else(|| SignError::Damaged(file.to_owned()))?,
            true => {
                let password = password(file, interactive)?.reveal().to_owned();
                let opened = SecretKeyBox::from(text).into_secret_key(Some(password));
                opened.map_err(|error| SignError::Closed {
                    file: file.to_owned(),
                    error,
                })?
            }
        };
        Ok(Self(opened))
    }

    /// The signature file. Its comment is signed too.
    pub fn sign(&self, content: &[u8], comment: &str) -> Result<String, SignError> {
        let signed = minisign::sign(None, &self.0, content, Some(comment), None);
        signed
            .map(|signature| signature.into_string())
            .map_err(SignError::Unsigned)
    }
}

/// `None` if the text is not a key.
fn has_password(text: &str) -> Option<bool> {
    Some(packed(text)?.is_encrypted())
}

fn packed(text: &str) -> Option<SecretKey> {
    let packed = STANDARD.decode(text.lines().nth(1)?.trim()).ok()?;
    SecretKey::from_bytes(&packed).ok()
}

/// Opens a key without a password. minisign leaves the checksum of such a key empty and never checks it (`minisign -G -W`).
/// So a test signature, verified with the public half, proves that the key is complete.
fn open_key(text: &str) -> Option<SecretKey> {
    const PROBE: &[u8] = b"probe";
    let key = packed(text)?;
    let public = PublicKey::from_secret_key(&key).ok()?;
    let signature = minisign::sign(Some(&public), &key, PROBE, None, None).ok()?;
    let confirmed = minisign::verify(&public, &signature, Cursor::new(PROBE), true, false, false);
    confirmed.is_ok().then_some(key)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a password is not a flag: everybody sees the arguments of a process"
)]
fn password(file: &Path, interactive: bool) -> Result<Secret, SignError> {
    if let Ok(password) = std::env::var(PASSWORD) {
        return Ok(Secret::new(password));
    }
    if !interactive {
        return Err(SignError::NoPassword(file.to_owned()));
    }
    let terminal = console::Term::stderr();
    let asked = terminal.write_str(&format!("password of {}: ", file.display()));
    let answer = asked.and_then(|()| terminal.read_secure_line());
    answer.map(Secret::new).map_err(SignError::Prompt)
}
