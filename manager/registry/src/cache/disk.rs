//! Responses of registries on disk, for all registries and deployments, and for the next process.
//!
//! ```text
//! entries/<digest of asker and request>  status, validators, time of the response, and digest of the content
//! contents/<SHA-256>                     the bytes, once for all registries
//! ```
//!
//! A content whose digest is not its name counts as missing. Each realm finds only its own responses, though realms may
//! share the bytes. The cache does not know how long a response may be used.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bytes::Bytes;
use common::registry::sums::hex;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::folder::BoundedFolder;
use super::memory::MemoryCache;

/// Bytes that are in memory too.
const MEMORY_BYTES: u64 = 64 * 1024 * 1024;
/// The size of an entry in memory without its body.
const ENTRY_BYTES: u64 = 1024;
/// Above this number of locks, the unused ones are dropped.
const TURNS: usize = 1_000;

/// The digest of a request and its realm.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key(String);

impl Key {
    pub fn new(parts: &[&str]) -> Self {
        Self(hex(parts.join("\0").as_bytes()))
    }
}

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub metadata: Metadata,
    pub body: Bytes,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// For people who read the folder.
    pub name: String,
    pub status: u16,
    /// The time when the registry last confirmed it.
    pub given: Timestamp,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub content_type: Option<String>,
    /// Digest of the body, in hexadecimal.
    pub sha256: String,
}

#[derive(Debug)]
pub struct DiskCache {
    folder: Arc<BoundedFolder>,
    memory: MemoryCache<Key, Arc<Entry>>,
    turns: Mutex<HashMap<Key, Weak<tokio::sync::Mutex<()>>>>,
}

impl DiskCache {
    /// `limit` is in bytes. Creating it does not touch the disk.
    pub fn new(root: &Path, limit: u64) -> Self {
        Self {
            folder: Arc::new(BoundedFolder::new(root.join("files"), limit)),
            memory: MemoryCache::new(MEMORY_BYTES),
            turns: Mutex::default(),
        }
    }

    pub async fn get(&self, key: &Key) -> Option<Arc<Entry>> {
        if let Some(entry) = self.memory.get(key) {
            self.folder.touch(&entry_place(key));
            self.folder.touch(&content_place(&entry.metadata.sha256));
            return Some(entry);
        }
        let (folder, wanted) = (self.folder.clone(), key.clone());
        let read = tokio::task::spawn_blocking(move || read(&folder, &wanted));
        let entry = Arc::new(read.await.ok()??);
        self.remember(key, &entry);
        Some(entry)
    }

    /// An entry that cannot be written is logged, and fetched again the next time. The caller gets the response anyway.
    pub async fn put(&self, key: &Key, entry: Entry) -> Arc<Entry> {
        let entry = Arc::new(entry);
        self.remember(key, &entry);
        let (folder, key, kept) = (self.folder.clone(), key.clone(), entry.clone());
        let written = tokio::task::spawn_blocking(move || write(&folder, &key, &kept));
        if let Ok(Err(error)) = written.await {
            let name = &entry.metadata.name;
            tracing::warn!(%error, "{name} cannot be stored in --registry-cache: {error}");
        }
        entry
    }

    /// A lock for this key: callers with the same request wait for the first one, and then find its response.
    pub async fn turn(&self, key: &Key) -> tokio::sync::OwnedMutexGuard<()> {
        let turn = {
            let mut turns = lock(&self.turns);
            if turns.len() >= TURNS {
                turns.retain(|_, turn| turn.strong_count() > 0);
            }
            let known = turns.get(key).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let turn = Arc::default();
                turns.insert(key.clone(), Arc::downgrade(&turn));
                turn
            })
        };
        turn.lock_owned().await
    }

    fn remember(&self, key: &Key, entry: &Arc<Entry>) {
        let size = u64::try_from(entry.body.len()).unwrap_or(u64::MAX);
        let size = size.saturating_add(ENTRY_BYTES);
        self.memory.put(key.clone(), entry.clone(), size);
    }
}

impl Entry {
    /// The registry has confirmed the entry now.
    pub fn confirmed(mut self) -> Self {
        self.metadata.given = Timestamp::now();
        self
    }

    /// An immutable content, received now.
    pub fn new(name: String, body: Vec<u8>) -> Self {
        let metadata = Metadata {
            name,
            status: 200,
            given: Timestamp::now(),
            etag: None,
            last_modified: None,
            content_type: None,
            sha256: digest(&body),
        };
        Self {
            metadata,
            body: body.into(),
        }
    }
}

pub fn digest(bytes: &[u8]) -> String {
    hex(bytes)
}

fn read(folder: &BoundedFolder, key: &Key) -> Option<Entry> {
    let metadata: Metadata = serde_json::from_slice(&folder.read(&entry_place(key))?).ok()?;
    let place = content_place(&metadata.sha256);
    let body = folder.read(&place)?;
    if digest(&body) != metadata.sha256 {
        tracing::warn!(
            "{} is damaged in --registry-cache and is fetched again",
            metadata.name
        );
        folder.remove(&place);
        return None;
    }
    let body = body.into();
    Some(Entry { metadata, body })
}

fn write(folder: &BoundedFolder, key: &Key, entry: &Entry) -> std::io::Result<()> {
    let place = content_place(&entry.metadata.sha256);
    if folder.read(&place).is_none_or(|held| held != entry.body) {
        folder.write(&place, &entry.body)?;
    }
    folder.write(&entry_place(key), &serde_json::to_vec(&entry.metadata)?)
}

fn entry_place(key: &Key) -> PathBuf {
    place("entries", &key.0)
}

/// A manipulated digest cannot lead to a file outside of the folder.
fn content_place(sha256: &str) -> PathBuf {
    match sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => place("contents", sha256),
        false => place("contents", ""),
    }
}

/// The files are in 256 folders, so that none has too many.
fn place(folder: &str, name: &str) -> PathBuf {
    Path::new(folder)
        .join(name.get(..2).unwrap_or("00"))
        .join(name)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str) -> Entry {
        Entry::new("a file".to_owned(), text.as_bytes().to_vec())
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = folder.read_dir().into_iter().flatten().flatten();
        let below = entries.map(|entry| match entry.path() {
            path if path.is_dir() => files(&path),
            path => vec![path],
        });
        below.flatten().collect()
    }

    #[tokio::test]
    async fn what_was_given_is_there_for_the_next_process_under_its_digest() {
        let folder = tempfile::tempdir().unwrap();
        let key = Key::new(&["realm", "https://host/a"]);
        DiskCache::new(folder.path(), 10_000)
            .put(&key, entry("x"))
            .await;
        let next = DiskCache::new(folder.path(), 10_000);
        let found = next.get(&key).await.unwrap();
        assert_eq!(&found.body[..], b"x");
        let other = Key::new(&["another", "https://host/a"]);
        assert!(next.get(&other).await.is_none(), "it is another realm's");
        next.put(&other, entry("x")).await;
        let contents = folder.path().join("files/contents");
        let kept = files(&contents);
        assert_eq!(kept.len(), 1, "the same bytes are kept once");
        assert!(kept[0].ends_with(digest(b"x")), "{kept:?}");
    }

    #[tokio::test]
    async fn what_is_damaged_is_as_if_it_were_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let key = Key::new(&["a"]);
        for damaged in ["contents", "entries"] {
            DiskCache::new(folder.path(), 10_000)
                .put(&key, entry("x"))
                .await;
            for file in files(&folder.path().join("files").join(damaged)) {
                std::fs::write(file, "y").unwrap();
            }
            let next = DiskCache::new(folder.path(), 10_000);
            assert!(next.get(&key).await.is_none(), "{damaged}");
        }
    }

    #[tokio::test]
    async fn a_folder_that_cannot_be_written_keeps_nobody_from_what_was_fetched() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("files"), "no folder").unwrap();
        let cache = DiskCache::new(folder.path(), 10_000);
        let key = Key::new(&["a"]);
        assert_eq!(&cache.put(&key, entry("x")).await.body[..], b"x");
        assert!(cache.get(&key).await.is_some(), "from memory");
    }
}
