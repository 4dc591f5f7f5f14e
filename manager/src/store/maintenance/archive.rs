//! Backups: the whole store as lines of text.
//!
//! ```text
//! {"backup":1,"format":3,"createdAt":"…","manager":"0.1.0"}      what it is
//! ["deployment\u0000web","AdA7…"]                               an entry: its key, and its value in base64, sealed as it is
//!                                                              in the store; or both text, of a store that is not sealed
//! …
//! {"entries":812,"sha256":"…"}                                   how many, and the digest of all lines before
//! ```
//!
//! An archive without its last line is invalid. A mark is set during a restore: an interrupted restore leaves nothing
//! behind.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures::{Stream, StreamExt, TryStreamExt};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio_util::codec::{FramedRead, LinesCodec, LinesCodecError};
use tokio_util::io::StreamReader;

use super::upgrade;
use crate::store::kv::{Key, KvError, Order, Scan};
use crate::store::{Changes, SCAN_ENTRIES, Store, StoreError, format, keys};

/// The version of the lines around the entries.
///
/// 1: values are texts. 2: they are sealed, and in base64.
const VERSION: u32 = 2;
/// The maximum size of an entry. The largest record lists the pieces of a manifest.
const LINE_BYTES: usize = 16 * 1024 * 1024;
/// The bytes restored and the entries removed in one commit.
const COMMIT_BYTES: usize = 4 * 1024 * 1024;
const COMMIT_ENTRIES: usize = 1024;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct First {
    backup: u32,
    format: u32,
    created_at: Timestamp,
    manager: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Entry(String, String),
    Last { entries: u64, sha256: String },
}

/// The whole store as it is now, in parts of a few hundred lines.
pub async fn backup(
    store: &Store,
    now: Timestamp,
) -> Result<impl Stream<Item = Result<Bytes, StoreError>> + use<>, StoreError> {
    let store = store.snapshot().await?;
    let first = First {
        backup: if store.ring().is_some() { VERSION } else { 1 },
        format: upgrade::found(&store).await?.0,
        created_at: now,
        manager: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let mut writing = Writing {
        store,
        after: None,
        entries: 0,
        digest: Sha256::new(),
        ended: false,
    };
    let first = writing.lines([&first])?;
    let rest = futures::stream::try_unfold(writing, async |mut writing| {
        let lines = writing.next().await?;
        Ok(lines.map(|lines| (lines, writing)))
    });
    Ok(futures::stream::iter([Ok(first)]).chain(rest))
}

struct Writing {
    store: Store,
    after: Option<Key>,
    entries: u64,
    digest: Sha256,
    ended: bool,
}

impl Writing {
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        if self.ended {
            return Ok(None);
        }
        let scan = Scan {
            after: self.after.take(),
            limit: SCAN_ENTRIES,
            ..Scan::default()
        };
        let found = self.store.kv.scan(scan).await?;
        let Some((last, _)) = found.last() else {
            self.ended = true;
            let last = Line::Last {
                entries: self.entries,
                sha256: hexadecimal(self.digest.clone()),
            };
            return self.lines([&last]).map(Some);
        };
        self.after = Some(last.clone());
        self.entries += found.len() as u64;
        let entries = found
            .into_iter()
            .map(|(key, value)| self.entry(key, &value));
        let entries: Vec<_> = entries.collect::<Result<_, _>>()?;
        self.lines(&entries).map(Some)
    }

    fn entry(&self, key: Key, value: &Bytes) -> Result<Line, StoreError> {
        let Some(sealing) = self.store.kv.sealing() else {
            return entry(key, value);
        };
        let sealed = sealing.sealed(&key, value)?;
        let shown = keys::shown(&key);
        let key = String::from_utf8(key);
        let key = key.map_err(|_| StoreError::Broken(format!("the key {shown} is not text")))?;
        Ok(Line::Entry(key, STANDARD.encode(sealed)))
    }

    fn lines<'a, T: Serialize + 'a>(
        &mut self,
        lines: impl IntoIterator<Item = &'a T>,
    ) -> Result<Bytes, StoreError> {
        let mut text = Vec::new();
        for line in lines {
            let written = serde_json::to_writer(&mut text, line);
            written.map_err(|error| StoreError::Broken(error.to_string()))?;
            text.push(b'\n');
        }
        self.digest.update(&text);
        Ok(text.into())
    }
}

fn entry(key: Key, value: &Bytes) -> Result<Line, StoreError> {
    let shown = keys::shown(&key);
    let value = String::from_utf8(value.to_vec()).ok();
    let text = String::from_utf8(key).ok().zip(value);
    let (key, value) = text
        .ok_or_else(|| StoreError::Broken(format!("{shown} is not text; see dm admin verify")))?;
    Ok(Line::Entry(key, value))
}

/// Fills an empty store and returns the number of entries. Nobody else writes until it is done. If it fails or the
/// process ends, nothing is left.
pub async fn restore<S, E>(store: &Store, archive: S) -> Result<u64, StoreError>
where
    S: Stream<Item = Result<Bytes, E>> + Send,
    E: std::fmt::Display,
{
    let _alone = store.gate.write().await;
    if !is_empty(store).await? {
        return Err(StoreError::NotEmpty);
    }
    let mut mark = Changes::default();
    mark.put(keys::restoring(), &Timestamp::now())?;
    mark.delete(keys::format());
    store.kv.commit(mark.commit).await?;
    let restored = Reading::default().all(store, archive).await;
    if restored.is_err() {
        remove_all(store).await?;
    } else {
        let mut done = Changes::default();
        done.delete(keys::restoring());
        store.kv.commit(done.commit).await?;
    }
    if let Some(index) = &store.index {
        index.forget();
    }
    upgrade::open(&store.without_gate()).await?;
    restored
}

/// Removes what an interrupted restore has left.
pub async fn clean(store: &Store) -> Result<(), StoreError> {
    if store.kv.get(&keys::restoring()).await?.is_none() {
        return Ok(());
    }
    tracing::warn!("a restore was cut off: what it had written is removed; restore again");
    remove_all(store).await
}

/// Whether the store holds only the records that every store begins with.
pub(super) async fn is_empty(store: &Store) -> Result<bool, StoreError> {
    let first = [keys::format(), keys::digests(), keys::transfer()];
    let scan = Scan {
        limit: first.len() + 1,
        ..Scan::default()
    };
    let found = store.kv.scan(scan).await?;
    Ok(found.iter().all(|(key, _)| first.contains(key)))
}

/// The mark is removed last. That of a transfer stays.
async fn remove_all(store: &Store) -> Result<(), StoreError> {
    loop {
        let scan = Scan {
            limit: COMMIT_ENTRIES,
            order: Order::Ascending,
            ..Scan::default()
        };
        let found = store.kv.scan(scan).await?;
        let mut keys: Vec<Key> = found.into_iter().map(|(key, _)| key).collect();
        let last = keys.len() < COMMIT_ENTRIES;
        keys.retain(|key| *key != keys::transfer() && (last || *key != keys::restoring()));
        let commit = crate::store::kv::Commit {
            delete: keys,
            ..Default::default()
        };
        store.kv.commit(commit).await?;
        if last {
            return Ok(());
        }
    }
}

#[derive(Default)]
struct Reading {
    changes: Changes,
    bytes: usize,
    entries: u64,
    digest: Sha256,
    is_sealed: bool,
}

impl Reading {
    async fn all<S, E>(mut self, store: &Store, archive: S) -> Result<u64, StoreError>
    where
        S: Stream<Item = Result<Bytes, E>> + Send,
        E: std::fmt::Display,
    {
        let bytes = archive.map_err(|error| std::io::Error::other(error.to_string()));
        let bytes = StreamReader::new(Box::pin(bytes));
        let mut lines = FramedRead::new(bytes, LinesCodec::new_with_max_length(LINE_BYTES));
        let first = lines.try_next().await.map_err(unreadable)?;
        self.first(&first.unwrap_or_default())?;
        while let Some(line) = lines.try_next().await.map_err(unreadable)? {
            match serde_json::from_str(&line) {
                Ok(Line::Entry(key, value)) => self.entry(store, &line, key, value).await?,
                Ok(Line::Last { entries, sha256 }) => {
                    self.last(entries, &sha256)?;
                    store.kv.commit(self.changes.commit).await?;
                    return match lines.try_next().await.map_err(unreadable)? {
                        None => Ok(entries),
                        Some(_) => Err(refused("something follows its last line")),
                    };
                }
                Err(_) => return Err(refused(&format!("line {} is damaged", self.entries + 2))),
            }
        }
        Err(refused("it is cut off: its last line is missing"))
    }

    fn first(&mut self, line: &str) -> Result<(), StoreError> {
        let first: First = serde_json::from_str(line)
            .map_err(|_| refused("it does not begin as one; dm admin backup writes them"))?;
        if first.backup > VERSION || first.format > format::NEWEST {
            return Err(refused(&format!(
                "manager {} wrote it, and this one is older: use that one",
                first.manager
            )));
        }
        if first.format < format::FIRST {
            return Err(refused(
                "its format is older than those that this manager reads: restore it into a manager of a release in between, run dm admin upgrade there, and back that one up",
            ));
        }
        self.is_sealed = first.backup > 1;
        self.digested(line);
        Ok(())
    }

    /// A value before it was sealed. It is sealed again when it is stored.
    fn value(&self, store: &Store, key: &str, value: String) -> Result<Bytes, StoreError> {
        if !self.is_sealed {
            return Ok(value.into());
        }
        let damaged = || refused(&format!("line {} is damaged", self.entries + 1));
        let sealed = STANDARD.decode(value).map_err(|_| damaged())?;
        let sealing = store.kv.sealing().ok_or_else(|| {
            refused("it is sealed, and this store is not: restore it into one on a disk, with the key file of the first")
        })?;
        match sealing.opened(key.as_bytes(), &sealed.into()) {
            Ok(value) => Ok(value),
            Err(KvError::OtherKey { key }) => Err(refused(&format!(
                "it is sealed with key {key}: put the line of the key file that it was made with behind those of --credential-key, and restore again"
            ))),
            Err(_) => Err(damaged()),
        }
    }

    async fn entry(
        &mut self,
        store: &Store,
        line: &str,
        key: String,
        value: String,
    ) -> Result<(), StoreError> {
        self.digested(line);
        self.entries += 1;
        if [keys::restoring(), keys::transfer()].contains(&key.as_bytes().to_vec()) {
            return Err(refused("it holds a part of another restore"));
        }
        self.bytes += key.len() + value.len();
        let value = self.value(store, &key, value)?;
        self.changes.commit.put.push((key.into_bytes(), value));
        if self.bytes > COMMIT_BYTES {
            self.bytes = 0;
            let changes = std::mem::take(&mut self.changes);
            store.kv.commit(changes.commit).await?;
        }
        Ok(())
    }

    fn last(&self, entries: u64, sha256: &str) -> Result<(), StoreError> {
        if entries != self.entries || sha256 != hexadecimal(self.digest.clone()) {
            return Err(refused("it is damaged: its digest does not fit"));
        }
        Ok(())
    }

    fn digested(&mut self, line: &str) {
        self.digest.update(line);
        self.digest.update("\n");
    }
}

fn refused(reason: &str) -> StoreError {
    StoreError::Archive(reason.to_owned())
}

fn unreadable(error: LinesCodecError) -> StoreError {
    refused(&format!("it cannot be read to its end: {error}"))
}

fn hexadecimal(digest: Sha256) -> String {
    let digest = digest.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
