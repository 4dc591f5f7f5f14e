//! The keys that seal the store and its credentials, and the file that holds them.
//!
//! Each line of the file is a key, the newest first. The newest key seals everything that is written, and the others
//! open what was sealed before. A new store makes the file with a random key, readable only by its owner. The log says
//! so, because the store is lost without the file. A Kubernetes Secret that is mounted as a file works too. A file that
//! others can read is refused.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::aead::{CHACHA20_POLY1305, LessSafeKey, UnboundKey};
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};

const KEY_BYTES: usize = 32;
const ID_BYTES: usize = 8;
const OWNER_ONLY: u32 = 0o600;
/// Only the owner may write the file, and only the owner's group may read it: Kubernetes gives mounted Secrets to a
/// group.
const OTHERS: u32 = 0o027;
/// The maximum size of the file: a few hundred keys.
const FILE_BYTES: u64 = 16 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("--credential-key {path} cannot be {action}: {reason}")]
    File {
        path: String,
        action: &'static str,
        reason: std::io::Error,
    },
    #[error(
        "the store is sealed, and --credential-key {path} is not there: bring the key file back, for nothing else opens the store"
    )]
    Missing { path: String },
    #[error("--credential-key {path} can be read by others; take that away with chmod 600 {path}")]
    Readable { path: String },
    #[error(
        "--credential-key {path} holds no key: each line must be {KEY_BYTES} random bytes in base64, such as openssl rand -base64 {KEY_BYTES} gives"
    )]
    NoKey { path: String },
    #[error("no key can be made: the system gives no random numbers")]
    Random,
}

/// The location of the keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPlace {
    File(PathBuf),
    /// For a store in memory. Lost with it.
    Memory,
}

/// The id of a key: a part of its digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub [u8; ID_BYTES]);

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

pub struct Key {
    bytes: [u8; KEY_BYTES],
    pub id: KeyId,
    pub cipher: LessSafeKey,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key {}", self.id)
    }
}

impl Key {
    pub fn random() -> Result<Self, KeyError> {
        let mut bytes = [0; KEY_BYTES];
        let filled = SystemRandom::new().fill(&mut bytes);
        filled.map_err(|_| KeyError::Random)?;
        Self::of(bytes).ok_or(KeyError::Random)
    }

    fn of(bytes: [u8; KEY_BYTES]) -> Option<Self> {
        let digest = digest(&SHA256, &[b"key id:".as_slice(), &bytes].concat());
        let id = digest.as_ref().first_chunk()?;
        let cipher = UnboundKey::new(&CHACHA20_POLY1305, &bytes).ok()?;
        Some(Self {
            id: KeyId(*id),
            bytes,
            cipher: LessSafeKey::new(cipher),
        })
    }
}

/// All keys, the newest first.
#[derive(Debug)]
pub struct Ring {
    place: KeyPlace,
    newest: RwLock<Vec<Arc<Key>>>,
}

impl Ring {
    /// The keys of a store. A store that `is_sealed` must have them. For another store they are made.
    pub fn open(place: KeyPlace, is_sealed: bool) -> Result<Self, KeyError> {
        let keys = match &place {
            KeyPlace::Memory => vec![Arc::new(Key::random()?)],
            KeyPlace::File(path) => match read(path)? {
                Some(keys) => keys,
                None if is_sealed => {
                    let path = path.display().to_string();
                    return Err(KeyError::Missing { path });
                }
                None => made(path)?,
            },
        };
        Ok(Self {
            place,
            newest: RwLock::new(keys),
        })
    }

    pub fn keys(&self) -> Vec<Arc<Key>> {
        let keys = self.newest.read();
        keys.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn newest(&self) -> Result<Arc<Key>, KeyError> {
        self.keys().into_iter().next().ok_or(KeyError::Random)
    }

    /// The key with this id, even if it was added to the file later.
    pub fn find(&self, id: &[u8]) -> Option<Arc<Key>> {
        let of = |keys: &[Arc<Key>]| keys.iter().find(|key| key.id.0 == id).cloned();
        let known = of(&self.newest.read().unwrap_or_else(PoisonError::into_inner));
        known.or_else(|| {
            let KeyPlace::File(path) = &self.place else {
                return None;
            };
            let found = of(&read(path).ok().flatten()?)?;
            let mut keys = self.newest.write().unwrap_or_else(PoisonError::into_inner);
            keys.push(found.clone());
            Some(found)
        })
    }

    /// Seals with this key from now on. Returns whether the ring or its file has it.
    pub fn prefer(&self, id: KeyId) -> bool {
        if self.find(&id.0).is_none() {
            return false;
        }
        let mut keys = self.newest.write().unwrap_or_else(PoisonError::into_inner);
        // No key leaves the ring.
        keys.sort_by_key(|key| key.id != id);
        true
    }

    /// The keys in the file as it is now, in its order. The ring has them from now on.
    pub fn reread(&self) -> Result<Vec<KeyId>, KeyError> {
        let KeyPlace::File(path) = &self.place else {
            return Ok(self.keys().iter().map(|key| key.id).collect());
        };
        let found = read(path)?.unwrap_or_default();
        let ids = found.iter().map(|key| key.id).collect();
        found.into_iter().for_each(|key| self.learn(key));
        Ok(ids)
    }

    /// A key that may seal later: the first key of the file if that is not the one that seals, or else a random one, which
    /// is the first in the file when this returns.
    pub fn prepare(&self) -> Result<Arc<Key>, KeyError> {
        let sealing = self.newest()?.id;
        let mut keys = match &self.place {
            KeyPlace::File(path) => read(path)?.unwrap_or_default(),
            KeyPlace::Memory => Vec::new(),
        };
        let prepared = keys.first().filter(|first| first.id != sealing).cloned();
        let key = match prepared {
            Some(key) => key,
            None => {
                let key = Arc::new(Key::random()?);
                keys.insert(0, key.clone());
                if let KeyPlace::File(path) = &self.place {
                    replace(path, &keys)?;
                }
                key
            }
        };
        self.learn(key.clone());
        Ok(key)
    }

    fn learn(&self, key: Arc<Key>) {
        let mut keys = self.newest.write().unwrap_or_else(PoisonError::into_inner);
        if keys.iter().all(|known| known.id != key.id) {
            keys.push(key);
        }
    }

    /// The file, for messages.
    pub fn place(&self) -> String {
        match &self.place {
            KeyPlace::File(path) => path.display().to_string(),
            KeyPlace::Memory => "in memory".to_owned(),
        }
    }

    /// A new key that seals from now on: the first key of the file if the operator added one, or else a random one,
    /// which is in the file when this returns.
    pub fn renew(&self) -> Result<Arc<Key>, KeyError> {
        let before = self.keys();
        let mut keys = match &self.place {
            KeyPlace::File(path) => read(path)?.unwrap_or_default(),
            KeyPlace::Memory => before.clone(),
        };
        let is_new = |key: &Arc<Key>| before.iter().all(|old| old.id != key.id);
        if !keys.first().is_some_and(is_new) {
            keys.insert(0, Arc::new(Key::random()?));
            if let KeyPlace::File(path) = &self.place {
                replace(path, &keys)?;
            }
        }
        // A key that was removed from the file may be needed until everything is sealed again.
        let known: Vec<_> = keys.iter().map(|key| key.id).collect();
        keys.extend(before.into_iter().filter(|old| !known.contains(&old.id)));
        let mut own = self.newest.write().unwrap_or_else(PoisonError::into_inner);
        *own = keys;
        own.first().cloned().ok_or(KeyError::Random)
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
fn read(path: &Path) -> Result<Option<Vec<Arc<Key>>>, KeyError> {
    let failed = failed(path, "read");
    let shown = || path.display().to_string();
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let metadata = file.metadata().map_err(failed)?;
    if metadata.permissions().mode() & OTHERS != 0 {
        return Err(KeyError::Readable { path: shown() });
    }
    let mut text = String::new();
    let mut file = file.take(FILE_BYTES);
    file.read_to_string(&mut text).map_err(failed)?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let keys: Option<Vec<_>> = lines.map(key).collect();
    match keys.filter(|keys| !keys.is_empty()) {
        Some(keys) => Ok(Some(keys)),
        None => Err(KeyError::NoKey { path: shown() }),
    }
}

fn key(line: &str) -> Option<Arc<Key>> {
    let bytes = STANDARD.decode(line).ok()?;
    Key::of(bytes.try_into().ok()?).map(Arc::new)
}

/// The second process uses the key of the first. The file gets its name only when it is complete.
fn made(path: &Path) -> Result<Vec<Arc<Key>>, KeyError> {
    let failed = failed(path, "written");
    let keys = vec![Arc::new(Key::random()?)];
    let draft = draft(path, &keys).map_err(failed)?;
    let linked = std::fs::hard_link(&draft, path);
    let removed = std::fs::remove_file(&draft);
    match linked {
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
        "made the key of the store, {}; keep a copy of it apart from the store: without it the store cannot be read",
        path.display()
    );
    Ok(keys)
}

fn replace(path: &Path, keys: &[Arc<Key>]) -> Result<(), KeyError> {
    let replaced = draft(path, keys).and_then(|draft| {
        std::fs::rename(&draft, path)?;
        // The name must be as durable as the file.
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    });
    replaced.map_err(failed(
        path,
        "written; put a new key into its first line, and try again",
    ))
}

fn draft(path: &Path, keys: &[Arc<Key>]) -> std::io::Result<PathBuf> {
    let draft = path.with_added_extension(format!("{}.draft", std::process::id()));
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(true);
    let mut file = options.mode(OWNER_ONLY).open(&draft)?;
    for key in keys {
        writeln!(file, "{}", STANDARD.encode(key.bytes))?;
    }
    file.sync_all()?;
    Ok(draft)
}

#[cfg(test)]
mod tests;
