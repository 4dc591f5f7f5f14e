//! The key that credentials are sealed with, and the file that it is kept in.
//!
//! The file is made when the first credential is set, with a random key and readable by its owner only; that it was made
//! is said, for a credential is lost with it. A file that others can read is refused.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::{SecureRandom as _, SystemRandom};

const KEY_BYTES: usize = 32;
const OWNER_ONLY: u32 = 0o600;

#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("--credential-key {path} cannot be {action}: {reason}")]
    File {
        path: String,
        action: &'static str,
        reason: std::io::Error,
    },
    #[error("--credential-key {path} can be read by others; take that away with chmod 600 {path}")]
    Readable { path: String },
    #[error(
        "--credential-key {path} holds no key: it must be {KEY_BYTES} random bytes in base64, such as openssl rand -base64 {KEY_BYTES} gives"
    )]
    NoKey { path: String },
    #[error("no key can be made: the system gives no random numbers")]
    Random,
}

/// Where the key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPlace {
    File(PathBuf),
    /// For a store in memory: forgotten with it.
    Memory,
}

#[derive(Clone)]
pub struct Key([u8; KEY_BYTES]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl Key {
    pub fn random() -> Result<Self, KeyError> {
        let mut bytes = [0; KEY_BYTES];
        let filled = SystemRandom::new().fill(&mut bytes);
        filled.map_err(|_| KeyError::Random)?;
        Ok(Self(bytes))
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

#[derive(Debug)]
pub struct Keeper {
    place: KeyPlace,
    known: Mutex<Option<Arc<Key>>>,
}

impl Keeper {
    pub fn open(place: KeyPlace) -> Result<Self, KeyError> {
        let known = match &place {
            KeyPlace::File(path) => read(path)?.map(Arc::new),
            KeyPlace::Memory => None,
        };
        Ok(Self {
            place,
            known: Mutex::new(known),
        })
    }

    /// The key, if there is one already.
    pub fn key_to_open(&self) -> Result<Option<Arc<Key>>, KeyError> {
        let mut known = self.known();
        if let (None, KeyPlace::File(path)) = (&*known, &self.place) {
            *known = read(path)?.map(Arc::new);
        }
        Ok(known.clone())
    }

    /// The key, made if there is none yet.
    pub fn key_to_seal(&self) -> Result<Arc<Key>, KeyError> {
        let mut known = self.known();
        if let Some(key) = &*known {
            return Ok(key.clone());
        }
        let key = match &self.place {
            KeyPlace::Memory => Key::random()?,
            KeyPlace::File(path) => make(path)?,
        };
        Ok(known.insert(Arc::new(key)).clone())
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Option<Arc<Key>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn failed<'a>(
    path: &'a Path,
    action: &'static str,
) -> impl Fn(std::io::Error) -> KeyError + Copy + 'a {
    move |reason| KeyError::File {
        path: path.display().to_string(),
        action,
        reason,
    }
}

/// `None` if there is no file.
fn read(path: &Path) -> Result<Option<Key>, KeyError> {
    let failed = failed(path, "read");
    let shown = || path.display().to_string();
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let metadata = file.metadata().map_err(failed)?;
    if metadata.permissions().mode() & 0o077 != 0 {
        return Err(KeyError::Readable { path: shown() });
    }
    let mut text = String::new();
    file.take(1024).read_to_string(&mut text).map_err(failed)?;
    let bytes = STANDARD.decode(text.trim()).ok();
    let key = bytes.and_then(|bytes| <[u8; KEY_BYTES]>::try_from(bytes).ok());
    match key {
        Some(key) => Ok(Some(Key(key))),
        None => Err(KeyError::NoKey { path: shown() }),
    }
}

/// Whoever comes second uses the key of the first. The file gets its name only when it is whole.
fn make(path: &Path) -> Result<Key, KeyError> {
    let failed = failed(path, "written");
    if let Some(key) = read(path)? {
        return Ok(key);
    }
    let key = Key::random()?;
    let draft = path.with_added_extension(format!("{}.draft", std::process::id()));
    let written = write_draft(&draft, &key).and_then(|()| std::fs::hard_link(&draft, path));
    let removed = std::fs::remove_file(&draft);
    match written {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let found = read(path)?;
            return found.ok_or_else(|| failed(ErrorKind::NotFound.into()));
        }
        Err(error) => return Err(failed(error)),
    }
    removed.map_err(failed)?;
    tracing::warn!(
        path = %path.display(),
        "made the key for credentials, {}; keep a copy of it apart from the store: without it the credentials are lost",
        path.display()
    );
    Ok(key)
}

fn write_draft(draft: &Path, key: &Key) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(true);
    let mut file = options.mode(OWNER_ONLY).open(draft)?;
    writeln!(file, "{}", STANDARD.encode(key.bytes()))?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dm-data.key");
        (folder, path)
    }

    #[test]
    fn a_key_file_is_made_when_it_is_needed_and_for_its_owner_only() {
        let (folder, path) = place();
        let keeper = Keeper::open(KeyPlace::File(path.clone())).unwrap();
        assert!(keeper.key_to_open().unwrap().is_none());
        assert!(!path.exists(), "nobody has set a credential yet");
        let key = keeper.key_to_seal().unwrap();
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, OWNER_ONLY);
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
        let again = Keeper::open(KeyPlace::File(path)).unwrap();
        assert_eq!(again.key_to_open().unwrap().unwrap().bytes(), key.bytes());
    }

    #[test]
    fn a_file_that_others_can_read_or_that_is_no_key_is_refused() {
        let (_folder, path) = place();
        std::fs::write(&path, STANDARD.encode([1; KEY_BYTES])).unwrap();
        let open = || Keeper::open(KeyPlace::File(path.clone())).map(|_| ());
        let mode =
            |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        mode(0o644);
        assert!(matches!(open(), Err(KeyError::Readable { .. })));
        mode(0o400);
        assert!(open().is_ok());
        mode(0o600);
        std::fs::write(&path, "short").unwrap();
        assert!(matches!(open(), Err(KeyError::NoKey { .. })));
    }

    #[test]
    fn a_key_is_not_shown_when_it_is_printed() {
        assert_eq!(format!("{:?}", Key::random().unwrap()), "***");
    }
}
