//! What a store has lost of what was acknowledged, and how an operator goes on with what is left.
//!
//! A store with a loss is not opened. Its error names the file and a token, which is made of the very state that was found:
//! a start with `--accept-loss TOKEN` takes this state for the whole, and no later loss.

use std::io;
use std::path::Path;

use super::super::KvError;
use super::acknowledged::{self, Acknowledged};
use super::disk::files::LOG;
use super::tip::{self, Tip};

/// Where something is missing, and what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    file: &'static str,
    reason: String,
}

impl Loss {
    /// What the two files say of each other. `tip` is the log's own.
    pub fn between(acknowledged: Acknowledged, tip: Option<Tip>) -> Option<Self> {
        let found = tip.unwrap_or_default();
        let lost = acknowledged.commits().saturating_sub(found.commits);
        match acknowledged {
            Acknowledged::Lost(reason) => Some(Self {
                file: acknowledged::NAME,
                reason: format!(
                    "{reason}, so nobody knows whether the log still has all commits; it has {}",
                    found.commits
                ),
            }),
            Acknowledged::Tip(said) if is_of_another(said, found) => Some(Self {
                file: acknowledged::NAME,
                reason: "it is the file of another store than the log".to_owned(),
            }),
            _ if lost > 0 => Some(Self::in_log(format!(
                "its last {lost} commits are not in it"
            ))),
            Acknowledged::Tip(said) if said.commits == found.commits && said.sum != found.sum => {
                Some(Self::in_log(
                    "its last commit is not the one that was acknowledged".to_owned(),
                ))
            }
            Acknowledged::New | Acknowledged::Old(_) | Acknowledged::Tip(_) => None,
        }
    }

    /// The entries are not those that the log's own sum speaks of.
    pub fn of_entries() -> Self {
        Self::in_log("some of what was committed is not in it".to_owned())
    }

    fn in_log(reason: String) -> Self {
        Self { file: LOG, reason }
    }

    /// The refusal, with the token that accepts it.
    pub fn refused(self, folder: &Path, token: String) -> KvError {
        KvError::Damaged {
            place: place(folder, self.file),
            reason: self.reason,
            accept: Some(token),
        }
    }
}

/// The log of a store that was used before there were ids has none.
fn is_of_another(said: Tip, found: Tip) -> bool {
    found.store != 0 && said.store != found.store
}

/// What accepts a loss: made of the two tips, so that another state has another token.
pub fn token(acknowledged: Acknowledged, tip: Option<Tip>) -> String {
    let state = format!("{acknowledged:?} {tip:?}");
    format!("loss-{:016x}", tip::hash(b"loss", state.as_bytes()))
}

/// Whether sled's error says that its files are not as it left them, and not that the disk or the system refuses.
pub fn is_damage(error: &sled::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, NotFound, UnexpectedEof};
    match error {
        sled::Error::Io(io) => {
            matches!(
                io.kind(),
                InvalidData | InvalidInput | NotFound | UnexpectedEof
            )
        }
        _ => true,
    }
}

/// Damage that nothing helps against but a backup.
pub fn damaged(folder: &Path, file: &str, reason: &str) -> KvError {
    KvError::Damaged {
        place: place(folder, file),
        reason: reason.to_owned(),
        accept: None,
    }
}

fn place(folder: &Path, file: &str) -> String {
    format!("the store's file {}", folder.join(file).display())
}
