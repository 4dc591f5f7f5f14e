//! Seals values before they are written to another store: the disk, or a backup, shows only keys.
//!
//! ```text
//! 01 · the key's id, 8 bytes · nonce, 12 bytes · ChaCha20-Poly1305 of the value, 16 bytes longer
//! ```
//!
//! A value is bound to its entry's key, so that none can be put in another's place. Keys of entries stay as they are:
//! they are names and digests. Numbers that are only added to ([`Commit::add`]) do too, for the store below counts them.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use ring::aead::{Aad, NONCE_LEN, Nonce};
use ring::rand::{SecureRandom as _, SystemRandom};

use super::{Commit, Entry, Key, Kv, KvError, Order, Pace, Registered, Scan, number};
use crate::keys::{KeyError, KeyId, KeyPlace, Ring};

/// How a sealed value begins; no text and no number does.
const SEALED: u8 = 1;
const ID_BYTES: usize = 8;
const HEAD_BYTES: usize = 1 + ID_BYTES + NONCE_LEN;
/// Entries that are sealed anew with one commit.
const AT_ONCE: usize = 256;
/// Times that a commit is made again because what it expects was sealed anew meanwhile.
const TRIES: usize = 8;

#[derive(Debug, thiserror::Error)]
pub enum SealError {
    #[error(transparent)]
    Kv(#[from] KvError),
    #[error(transparent)]
    Key(#[from] KeyError),
}

#[derive(Debug, Clone)]
pub struct SealedKv {
    inner: Arc<dyn Kv>,
    ring: Arc<Ring>,
}

/// How a value is in the store below.
enum Form {
    Sealed(KeyId),
    /// A number, or a value of before stores were sealed.
    Plain,
}

impl SealedKv {
    /// Over a store that is new, sealed already, or of before stores were sealed: then all of it is sealed here. `first` is
    /// an entry that every store has; it is sealed last, so it shows whether all is.
    pub async fn open(inner: Arc<dyn Kv>, place: KeyPlace, first: &Key) -> Result<Self, SealError> {
        let mark = inner.get(first).await?;
        let is_sealed = matches!(mark.as_deref().map(form), Some(Form::Sealed(_)));
        let ring = Arc::new(Ring::open(place, is_sealed)?);
        // The first key of a file may be one that other managers do not have yet.
        if let Some(entry) = &mark
            && !inner.managers().await?.is_empty()
        {
            Self::prefer(&ring, &entry.value);
        }
        let kv = Self { inner, ring };
        match &mark {
            Some(entry) if is_sealed => drop(kv.opened(first, &entry.value)?),
            Some(_) => {
                tracing::info!("the store is not sealed yet; all that is in it is sealed now");
                let sealed = kv.reseal(Some(first)).await?;
                kv.reseal_entry(first.clone()).await?;
                tracing::info!(sealed, "the store is sealed: {sealed} entries");
            }
            None => {}
        }
        Ok(kv)
    }

    /// Over a store that another manager has opened.
    pub fn over(inner: Arc<dyn Kv>, ring: Arc<Ring>) -> Self {
        Self { inner, ring }
    }

    /// The value of an entry that was read from the store below.
    ///
    /// # Errors
    /// [`KvError::OtherKey`] if the value was sealed with a key that the ring does not have.
    pub fn recognise(ring: &Ring, key: &[u8], value: &[u8]) -> Result<Bytes, KvError> {
        let mut plain = Vec::with_capacity(value.len());
        open_onto(ring, &mut plain, key, value)?;
        Ok(plain.into())
    }

    /// Seals from now on with the key that sealed the value. Returns false if the ring does not have it.
    pub fn prefer(ring: &Ring, value: &[u8]) -> bool {
        match form(value) {
            Form::Sealed(id) => ring.prefer(id),
            Form::Plain => true,
        }
    }

    pub fn ring(&self) -> Arc<Ring> {
        self.ring.clone()
    }

    /// Seals with the newest key whatever is not; gives how many entries that were. Goes on from where an earlier one was
    /// cut off, and others read and write meanwhile.
    pub async fn reseal(&self, except: Option<&Key>) -> Result<u64, KvError> {
        let (mut after, mut count) = (None, 0);
        loop {
            let scan = Scan {
                after: after.take(),
                limit: AT_ONCE,
                order: Order::Ascending,
                ..Scan::default()
            };
            let found = self.inner.scan(scan).await?;
            let Some((last, _)) = found.last() else {
                return Ok(count);
            };
            after = Some(last.clone());
            let newest = self.newest()?.id;
            let old = found.into_iter();
            let old = old.filter(|(key, value)| Some(key) != except && is_old(value, newest));
            let old: Vec<Key> = old.map(|(key, _)| key).collect();
            if old.is_empty() {
                continue;
            }
            count += old.len() as u64;
            match self.reseal_entries(&old).await {
                // Somebody has written one of them: each for itself then.
                Err(KvError::Conflict) => {
                    for key in old {
                        self.reseal_entry(key).await?;
                    }
                }
                outcome => outcome?,
            }
        }
    }

    /// Seals an entry with the newest key.
    pub async fn reseal_entry(&self, key: Key) -> Result<(), KvError> {
        loop {
            match self.reseal_entries(std::slice::from_ref(&key)).await {
                Err(KvError::Conflict) => {}
                outcome => return outcome,
            }
        }
    }

    /// Those of them that are not sealed with the newest key, all or none.
    async fn reseal_entries(&self, keys: &[Key]) -> Result<(), KvError> {
        let newest = self.newest()?.id;
        let mut commit = Commit::default();
        let found = self.inner.get_each(keys.to_vec()).await?;
        for (key, entry) in keys.iter().zip(found) {
            let Some(entry) = entry.filter(|entry| is_old(&entry.value, newest)) else {
                continue;
            };
            let plain = self.opened(key, &entry.value)?;
            commit.put.push((key.clone(), self.sealed(key, &plain)?));
            commit.expect.push((key.clone(), Some(entry)));
        }
        self.inner.commit(commit).await
    }

    /// How many values each key seals. Reads all.
    pub async fn keys_in_use(&self) -> Result<BTreeMap<KeyId, u64>, KvError> {
        let (mut after, mut counts) = (None, BTreeMap::new());
        loop {
            let scan = Scan {
                after: after.take(),
                limit: AT_ONCE,
                ..Scan::default()
            };
            let found = self.inner.scan(scan).await?;
            let Some((last, _)) = found.last() else {
                return Ok(counts);
            };
            after = Some(last.clone());
            for (_, value) in &found {
                if let Form::Sealed(id) = form(value) {
                    *counts.entry(id).or_default() += 1;
                }
            }
        }
    }

    fn newest(&self) -> Result<Arc<crate::keys::Key>, KvError> {
        self.ring.newest().map_err(|error| KvError::Failed {
            action: "sealed",
            reason: error.to_string(),
        })
    }

    /// As it is kept in the store below, and in backups.
    pub fn sealed(&self, key: &[u8], value: &Bytes) -> Result<Bytes, KvError> {
        if number(value).is_some() {
            return Ok(value.clone());
        }
        let failed = |reason: &str| KvError::Failed {
            action: "sealed",
            reason: reason.to_owned(),
        };
        let with = self.newest()?;
        let mut nonce = [0; NONCE_LEN];
        let filled = SystemRandom::new().fill(&mut nonce);
        filled.map_err(|_| failed("the system gives no random numbers"))?;
        let fresh = Nonce::assume_unique_for_key(nonce);
        let mut text = value.to_vec();
        let tag = with
            .cipher
            .seal_in_place_separate_tag(fresh, Aad::from(key), &mut text)
            .map_err(|_| failed("it is too large"))?;
        let parts = [
            [SEALED].as_slice(),
            &with.id.0,
            nonce.as_slice(),
            &text,
            tag.as_ref(),
        ];
        Ok(parts.concat().into())
    }

    /// What was sealed; what is not, as it is.
    pub fn opened(&self, key: &[u8], value: &Bytes) -> Result<Bytes, KvError> {
        Self::recognise(&self.ring, key, value)
    }

    /// Each entry opened, all in one piece of memory.
    fn opened_entries(&self, entries: Vec<(Key, Bytes)>) -> Result<Vec<(Key, Bytes)>, KvError> {
        let size = entries.iter().map(|(_, value)| value.len()).sum();
        let mut plain = Vec::with_capacity(size);
        let mut ends = Vec::with_capacity(entries.len());
        for (key, value) in &entries {
            open_onto(&self.ring, &mut plain, key, value)?;
            ends.push(plain.len());
        }
        let (plain, mut start) = (Bytes::from(plain), 0);
        let keys = entries.into_iter().map(|(key, _)| key);
        let entry = |(key, end)| (key, plain.slice(std::mem::replace(&mut start, end)..end));
        Ok(keys.zip(ends).map(entry).collect())
    }

    fn opened_entry(&self, key: &[u8], entry: Option<Entry>) -> Result<Option<Entry>, KvError> {
        let opened = entry.map(|entry| {
            Ok(Entry {
                value: self.opened(key, &entry.value)?,
                version: entry.version,
            })
        });
        opened.transpose()
    }

    /// The expectations as the store has them now, if some were only sealed anew since.
    ///
    /// # Errors
    /// [`KvError::Conflict`] if one does not hold, or nothing was sealed anew.
    async fn expected_now(
        &self,
        expect: &[(Key, Option<Entry>)],
    ) -> Result<Vec<(Key, Option<Entry>)>, KvError> {
        let keys: Vec<_> = expect.iter().map(|(key, _)| key.clone()).collect();
        let found = self.get_each(keys.clone()).await?;
        let wanted = expect.iter().map(|(_, wanted)| wanted);
        let value = |entry: &Option<Entry>| entry.as_ref().map(|entry| entry.value.clone());
        let holds = wanted
            .zip(&found)
            .all(|(wanted, found)| value(wanted) == value(found));
        let now: Vec<_> = keys.into_iter().zip(found).collect();
        match holds && now != expect {
            true => Ok(now),
            false => Err(KvError::Conflict),
        }
    }
}

/// Puts at the end of `plain` what was sealed.
fn open_onto(ring: &Ring, plain: &mut Vec<u8>, key: &[u8], value: &[u8]) -> Result<(), KvError> {
    let Form::Sealed(id) = form(value) else {
        plain.extend_from_slice(value);
        return Ok(());
    };
    let damaged = |reason: String| KvError::Damaged {
        place: format!(
            "the entry {:?}",
            String::from_utf8_lossy(key).replace('\0', "/")
        ),
        reason,
        accept: None,
    };
    let with = ring.find(&id.0).ok_or_else(|| KvError::OtherKey {
        key: id.to_string(),
    })?;
    let (head, text) = value.split_at_checked(HEAD_BYTES).unwrap_or((value, &[]));
    let nonce = head.last_chunk::<NONCE_LEN>().copied().unwrap_or_default();
    let nonce = Nonce::assume_unique_for_key(nonce);
    let start = plain.len();
    plain.extend_from_slice(text);
    let opened = with
        .cipher
        .open_in_place(
            nonce,
            Aad::from(key),
            plain.get_mut(start..).unwrap_or_default(),
        )
        .map_err(|_| damaged("it was changed, or is another entry's".to_owned()))?;
    let end = start + opened.len();
    plain.truncate(end);
    Ok(())
}

/// Whether a value is to be sealed with the newest key.
fn is_old(value: &[u8], newest: KeyId) -> bool {
    match form(value) {
        Form::Sealed(id) => id != newest,
        Form::Plain => number(value).is_none(),
    }
}

fn form(value: &[u8]) -> Form {
    match value.split_first() {
        Some((&SEALED, rest)) => match rest.first_chunk() {
            Some(id) => Form::Sealed(KeyId(*id)),
            None => Form::Plain,
        },
        _ => Form::Plain,
    }
}

#[async_trait]
impl Kv for SealedKv {
    async fn get(&self, key: &[u8]) -> Result<Option<Entry>, KvError> {
        self.opened_entry(key, self.inner.get(key).await?)
    }

    async fn get_each(&self, keys: Vec<Key>) -> Result<Vec<Option<Entry>>, KvError> {
        let found = self.inner.get_each(keys.clone()).await?;
        let pairs = keys.iter().zip(found);
        pairs
            .map(|(key, entry)| self.opened_entry(key, entry))
            .collect()
    }

    async fn scan(&self, scan: Scan) -> Result<Vec<(Key, Bytes)>, KvError> {
        self.opened_entries(self.inner.scan(scan).await?)
    }

    async fn commit(&self, commit: Commit) -> Result<(), KvError> {
        let put = commit
            .put
            .iter()
            .map(|(key, value)| Ok((key.clone(), self.sealed(key, value)?)));
        let mut sealed = Commit {
            put: put.collect::<Result<_, KvError>>()?,
            ..commit
        };
        let wanted = sealed.expect.clone();
        for _ in 0..TRIES {
            match self.inner.commit(sealed.clone()).await {
                // What was expected may have been sealed anew and still be the same.
                Err(KvError::Conflict) => {
                    sealed.expect = self.expected_now(&wanted).await?;
                }
                outcome => return outcome,
            }
        }
        Err(KvError::Conflict)
    }

    async fn snapshot(&self) -> Result<Arc<dyn Kv>, KvError> {
        Ok(Arc::new(Self {
            inner: self.inner.snapshot().await?,
            ring: self.ring.clone(),
        }))
    }

    async fn check(&self, pace: Pace) -> Result<(), KvError> {
        self.inner.check(pace).await
    }

    async fn accepts(&self) -> Result<(), KvError> {
        self.inner.accepts().await
    }

    async fn owned(&self) -> Result<(), KvError> {
        self.inner.owned().await
    }

    async fn managers(&self) -> Result<Vec<Registered>, KvError> {
        self.inner.managers().await
    }

    fn sealing(&self) -> Option<&SealedKv> {
        Some(self)
    }
}

#[cfg(test)]
mod tests;
