//! Files that are read again when they change, without a restart: certificates, keys, tokens, policies.
//!
//! Users of a value ask for it each time. Such a request looks at the files at most once per [`INTERVAL`]. There is no
//! background task to stop, and a file that is not used is not read. If the new contents cannot be used – half written,
//! or a key that does not fit the certificate – the previous ones stay in use, and the log says so once.
//!
//! It does not know the contents of the files.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

/// How long a change may stay unnoticed. The files are small, and reading them is cheaper than a handshake.
const INTERVAL: Duration = Duration::from_secs(1);
/// The maximum size of a file. Certificate chains and token lists are much smaller.
const FILE_BYTES: u64 = 1024 * 1024;

type Reader<T> = dyn Fn(&[Vec<u8>]) -> Result<T, String> + Send + Sync;

/// Why the files cannot be used at the start.
#[derive(Debug, thiserror::Error)]
#[error("{what} cannot be used: {reason}")]
pub struct Unusable {
    what: String,
    reason: String,
}

/// A value that is parsed from one or more files.
pub struct Watched<T> {
    /// Its name in messages: `the certificate of --tls-cert`.
    what: String,
    files: Vec<PathBuf>,
    read: Box<Reader<T>>,
    state: Mutex<State<T>>,
}

struct State<T> {
    value: Arc<T>,
    /// The digest of the contents that were last read, usable or not.
    seen: Vec<u8>,
    looked: Instant,
}

impl<T> Watched<T> {
    /// Reads the files for the first time. `read` gets their contents in the order of `files`.
    pub fn open(
        what: impl Into<String>,
        files: impl IntoIterator<Item = PathBuf>,
        read: impl Fn(&[Vec<u8>]) -> Result<T, String> + Send + Sync + 'static,
    ) -> Result<Self, Unusable> {
        let (what, files): (_, Vec<_>) = (what.into(), files.into_iter().collect());
        let first = contents(&files).and_then(|contents| Ok((read(&contents)?, digest(&contents))));
        let (value, seen) = match first {
            Ok(first) => first,
            Err(reason) => return Err(Unusable { what, reason }),
        };
        let state = Mutex::new(State {
            value: Arc::new(value),
            seen,
            looked: Instant::now(),
        });
        Ok(Self {
            what,
            files,
            read: Box::new(read),
            state,
        })
    }

    /// The value of the last usable contents.
    pub fn get(&self) -> Arc<T> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.looked.elapsed() >= INTERVAL {
            state.looked = Instant::now();
            self.look(&mut state);
        }
        state.value.clone()
    }

    fn look(&self, state: &mut State<T>) {
        let what = &self.what;
        // A missing file is probably being replaced. Until it returns, the previous value stays.
        let Ok(contents) = contents(&self.files) else {
            return;
        };
        let seen = digest(&contents);
        if seen == state.seen {
            return;
        }
        state.seen = seen;
        match (self.read)(&contents) {
            Ok(value) => {
                state.value = Arc::new(value);
                tracing::info!("{what} changed and is in use");
            }
            Err(reason) => {
                tracing::warn!(
                    "{what} changed but cannot be used, so the previous one stays: {reason}"
                );
            }
        }
    }
}

impl<T> std::fmt::Debug for Watched<T> {
    /// Never prints the contents: they may be a key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watched")
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

fn contents(files: &[PathBuf]) -> Result<Vec<Vec<u8>>, String> {
    files.iter().map(|path| content(path)).collect()
}

fn content(path: &Path) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    match bytes.len() as u64 > FILE_BYTES {
        true => Err(format!("{} is larger than 1 MiB", path.display())),
        false => Ok(bytes),
    }
}

fn digest(contents: &[Vec<u8>]) -> Vec<u8> {
    let mut sum = Sha256::new();
    for bytes in contents {
        sum.update((bytes.len() as u64).to_be_bytes());
        sum.update(bytes);
    }
    sum.finalize().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(contents: &[Vec<u8>]) -> Result<u32, String> {
        let text = String::from_utf8_lossy(&contents[0]).trim().to_owned();
        text.parse()
            .map_err(|_| format!("{text:?} is not a number"))
    }

    /// As [`Watched::get`] after the interval.
    fn now<T>(watched: &Watched<T>) -> Arc<T> {
        let mut state = watched.state.lock().unwrap();
        watched.look(&mut state);
        state.value.clone()
    }

    #[test]
    fn a_change_is_taken_and_a_broken_file_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("number");
        std::fs::write(&file, "1").unwrap();
        let watched = Watched::open("the number", [file.clone()], number).unwrap();
        assert_eq!(*watched.get(), 1);
        for (content, expected) in [("2", 2), ("two", 2), ("", 2), ("3\n", 3)] {
            std::fs::write(&file, content).unwrap();
            assert_eq!(*now(&watched), expected, "{content:?}");
        }
        std::fs::remove_file(&file).unwrap();
        assert_eq!(*now(&watched), 3);
    }

    #[test]
    fn a_file_that_is_missing_or_broken_at_the_start_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("number");
        let error = Watched::open("the number", [file.clone()], number).unwrap_err();
        assert!(
            error.to_string().starts_with("the number cannot be used: "),
            "{error}"
        );
        assert!(error.to_string().contains("/number"), "{error}");
        std::fs::write(&file, "x").unwrap();
        let error = Watched::open("the number", [file], number).unwrap_err();
        assert!(
            error.to_string().ends_with("\"x\" is not a number"),
            "{error}"
        );
    }
}
