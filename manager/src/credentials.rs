//! Credentials. They are sealed in the store, and in clear only in the adapter that sends them.
//!
//! It seals credentials anew and opens them, and refuses to know what a credential is for. [`crate::keys`] does the
//! sealing.

use std::sync::Arc;
use std::time::Duration;

use common::api::manager::CredentialSummary;
use common::model::{Credential, CredentialName};
use jiff::Timestamp;
use tokio::time::Instant;

use crate::keys::{self, KeyError, KeyId, Ring};
use crate::store::kv::{Owner, REGISTRATION_BEAT};
use crate::store::operations::answers;
use crate::store::registries::credentials::{self, CredentialRecord};
use crate::store::{Store, StoreError};

/// Managers that use the same key file have noticed a new key after this time.
const LEARNED: Duration = REGISTRATION_BEAT.saturating_mul(3);
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    #[error("there is no credential '{0}'; set it with dm setcredential {0}")]
    Unknown(CredentialName),
    #[error(
        "credential '{0}' was sealed with another key than the one in --credential-key; bring that key back, or set the credential again"
    )]
    OtherKey(CredentialName),
    #[error(
        "the store keeps its key, because managers may take it over that do not have its next key, {key}, in the first line of their key files: {managers}; copy {file} of {owner} over the key file of each of them, and run dm admin rotate again"
    )]
    Unshared {
        key: KeyId,
        file: String,
        owner: String,
        managers: String,
    },
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error("the credential cannot be sealed: the system gives no random numbers")]
    Random,
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Debug)]
pub struct Vault {
    store: Store,
    ring: Arc<Ring>,
}

impl Vault {
    pub fn new(store: Store, ring: Arc<Ring>) -> Self {
        Self { store, ring }
    }

    /// Makes a new key and seals everything with it: the credentials and the store. Returns the key's id and the number
    /// of sealed entries. [`Self::reseal`] finishes an interrupted rotation.
    ///
    /// # Errors
    /// [`VaultError::Unshared`] if a manager that may take the store over does not have the new key. Then the key is in
    /// the file, and seals nothing.
    pub async fn rotate(&self) -> Result<(KeyId, u64), VaultError> {
        let key = match self.store.managers().await?.is_empty() {
            true => self.ring.renew()?.id,
            false => self.shared().await?,
        };
        self.store.enforce_key().await?;
        tracing::info!(%key, "the store has a new key, {key}; all is sealed with it now");
        Ok((key, self.reseal().await?))
    }

    /// The next key, if all managers have it. It seals from now on.
    async fn shared(&self) -> Result<KeyId, VaultError> {
        let key = self.ring.prepare()?.id;
        let deadline = Instant::now() + LEARNED;
        loop {
            let managers = self.store.managers().await?.into_iter();
            let lacking = managers.filter(|one| one.keys.first() != Some(&key.to_string()));
            let mut lacking: Vec<String> = lacking.map(|one| one.name).collect();
            lacking.dedup();
            if lacking.is_empty() {
                self.ring.prefer(key);
                return Ok(key);
            }
            if Instant::now() >= deadline {
                return Err(VaultError::Unshared {
                    key,
                    file: self.ring.place(),
                    owner: Owner::this(None, None).name,
                    managers: lacking.join("; "),
                });
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Whether something may be sealed with an older key.
    pub fn has_old_keys(&self) -> bool {
        self.ring.keys().len() > 1
    }

    /// Seals everything with the newest key.
    pub async fn reseal(&self) -> Result<u64, VaultError> {
        for (name, mut record) in credentials::list(&self.store).await? {
            let credential = self.opened(&name, &record)?;
            let key = self.ring.newest()?;
            record.sealed = keys::seal(&key, &name, &credential).ok_or(VaultError::Random)?;
            credentials::put(&self.store, &name, &record).await?;
        }
        let entries = self.store.reseal().await?;
        tracing::info!(
            entries,
            "all is sealed with the newest key: {entries} entries were not"
        );
        Ok(entries)
    }

    /// Creates the credential, or replaces its secret. Returns whether it is new.
    pub async fn set(
        &self,
        name: &CredentialName,
        credential: &Credential,
        now: Timestamp,
    ) -> Result<(CredentialSummary, bool), VaultError> {
        let key = self.ring.newest()?;
        let before = credentials::get(&self.store, name).await?;
        let record = CredentialRecord {
            kind: credential.kind(),
            username: credential.username().map(str::to_owned),
            created_at: before.as_ref().map_or(now, |before| before.created_at),
            modified_at: now,
            sealed: keys::seal(&key, name, credential).ok_or(VaultError::Random)?,
        };
        let summary = record.clone().summary(name.clone());
        match before {
            None => answers::created(&summary)?,
            Some(_) => answers::done(&summary)?,
        }
        credentials::put(&self.store, name, &record).await?;
        Ok((summary, before.is_none()))
    }

    pub async fn get(&self, name: &CredentialName) -> Result<CredentialSummary, VaultError> {
        Ok(self.record(name).await?.summary(name.clone()))
    }

    pub async fn list(&self) -> Result<Vec<CredentialSummary>, VaultError> {
        let all = credentials::list(&self.store).await?;
        let summaries = all.into_iter().map(|(name, record)| record.summary(name));
        Ok(summaries.collect())
    }

    pub async fn delete(&self, name: &CredentialName) -> Result<CredentialSummary, VaultError> {
        let summary = self.get(name).await?;
        answers::done(&summary)?;
        credentials::delete(&self.store, name).await?;
        Ok(summary)
    }

    /// The credential in clear, and when it was set.
    pub async fn reveal(
        &self,
        name: &CredentialName,
    ) -> Result<(Credential, Timestamp), VaultError> {
        let record = self.record(name).await?;
        Ok((self.opened(name, &record)?, record.modified_at))
    }

    fn opened(
        &self,
        name: &CredentialName,
        record: &CredentialRecord,
    ) -> Result<Credential, VaultError> {
        let held = self.ring.keys();
        let mut opened = held.iter().map(|key| keys::open(key, name, &record.sealed));
        let opened = opened.find_map(|credential| credential);
        opened.ok_or_else(|| VaultError::OtherKey(name.clone()))
    }

    async fn record(&self, name: &CredentialName) -> Result<CredentialRecord, VaultError> {
        let found = credentials::get(&self.store, name).await?;
        found.ok_or_else(|| VaultError::Unknown(name.clone()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use common::model::Secret;

    use super::*;
    use crate::keys::KeyPlace;
    use crate::store::kv::{Kv as _, MemoryKv, Scan};

    fn name(text: &str) -> CredentialName {
        CredentialName::parse(text).unwrap()
    }

    fn token(text: &str) -> Credential {
        Credential::Token(Secret::new(text))
    }

    async fn vault(kv: &Arc<MemoryKv>, place: KeyPlace) -> Vault {
        let store = Store::open(kv.clone()).await.unwrap();
        Vault::new(store, Arc::new(Ring::open(place, false).unwrap()))
    }

    #[tokio::test]
    async fn what_is_set_is_given_to_adapters_and_is_nowhere_in_the_store() {
        let folder = tempfile::tempdir().unwrap();
        let (kv, place) = (
            Arc::new(MemoryKv::default()),
            KeyPlace::File(folder.path().join("key")),
        );
        let (first, second) = (Timestamp::UNIX_EPOCH, Timestamp::from_second(5).unwrap());
        let own = vault(&kv, place.clone()).await;
        let (_, new) = own.set(&name("a"), &token("s3cret"), first).await.unwrap();
        assert!(new);
        let (reported, new) = own.set(&name("a"), &token("n3wer"), second).await.unwrap();
        assert!(!new);
        assert_eq!((reported.created_at, reported.modified_at), (first, second));

        let restarted = vault(&kv, place).await;
        let revealed = restarted.reveal(&name("a")).await.unwrap();
        assert_eq!(revealed, (token("n3wer"), second));
        let scan = Scan {
            limit: usize::MAX,
            ..Scan::default()
        };
        for (_, bytes) in kv.scan(scan).await.unwrap() {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            assert!(
                !text.contains("s3cret") && !text.contains("n3wer"),
                "{text}"
            );
        }
        assert_eq!(restarted.list().await.unwrap().len(), 1);
        restarted.delete(&name("a")).await.unwrap();
        let gone = restarted.reveal(&name("a")).await.unwrap_err();
        assert!(gone.to_string().contains("dm setcredential a"), "{gone}");
    }

    #[tokio::test]
    async fn another_key_opens_nothing_and_says_so() {
        let kv = Arc::new(MemoryKv::default());
        let own = vault(&kv, KeyPlace::Memory).await;
        own.set(&name("a"), &token("x"), Timestamp::UNIX_EPOCH)
            .await
            .unwrap();
        let other = vault(&kv, KeyPlace::Memory).await;
        let error = other.reveal(&name("a")).await.unwrap_err();
        assert!(matches!(error, VaultError::OtherKey(_)), "{error}");
        assert!(other.get(&name("a")).await.is_ok(), "metadata needs no key");
    }
}
