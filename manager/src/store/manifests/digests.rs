//! Digests that only this store can compute. A content may hold a password that is easy to guess: with a plain digest
//! of the content, a reader could check each guess.
//!
//! The key is a record of the store. It is sealed like all records, stays the same when sealing keys are changed, and
//! is part of backups.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::model::ManifestDigests;
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::store::{Changes, Store, StoreError, keys};

const KEY_BYTES: usize = 32;

/// The key of the store's digests.
#[derive(Debug, Clone)]
pub struct Digests(hmac::Key);

impl Digests {
    pub async fn read(store: &Store) -> Result<Self, StoreError> {
        let found: Option<String> = store.get(keys::digests()).await?;
        let missing = || StoreError::Missing("the key of its digests".to_owned());
        let key = STANDARD.decode(found.ok_or_else(missing)?);
        let key =
            key.map_err(|_| StoreError::Broken("the key of its digests is none".to_owned()))?;
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, &key)))
    }

    /// Hexadecimal, 64 characters.
    pub fn digest(&self, bytes: &[u8]) -> String {
        let tag = hmac::sign(&self.0, bytes);
        let bytes = tag.as_ref().iter();
        bytes.map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Digests of a manifest with secrets, as callers get them: equal contents have equal digests, and nobody can check
/// guesses.
pub async fn keyed(store: &Store, digests: &mut ManifestDigests) -> Result<(), StoreError> {
    let of_store = Digests::read(store).await?;
    for digest in [&mut digests.input, &mut digests.expansion] {
        *digest = format!("hmac-sha256:{}", of_store.digest(digest.as_bytes()));
    }
    Ok(())
}

/// Makes the key for a store that has none.
pub async fn settle(store: &Store) -> Result<(), StoreError> {
    let key = keys::digests();
    if store.kv.get(&key).await?.is_some() {
        return Ok(());
    }
    let mut bytes = [0; KEY_BYTES];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| StoreError::Broken("the system gives no random numbers".to_owned()))?;
    let mut changes = Changes::default();
    changes.expect(key.clone(), None);
    changes.put(key, &STANDARD.encode(bytes))?;
    store.commit(changes).await
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use common::canonical::digest_bytes;

    use super::*;
    use crate::store::kv::MemoryKv;

    #[tokio::test]
    async fn a_digest_is_its_stores_own_and_stays() {
        let (one, other) = (Arc::new(MemoryKv::default()), Arc::new(MemoryKv::default()));
        let mut found = Vec::new();
        for kv in [one.clone(), one, other] {
            let store = Store::open(kv).await.unwrap();
            found.push(Digests::read(&store).await.unwrap().digest(b"hunter2"));
        }
        assert_eq!(found[0], found[1]);
        assert_ne!(found[0], found[2]);
        assert!(!digest_bytes(b"hunter2").to_string().ends_with(&found[0]));
    }
}
