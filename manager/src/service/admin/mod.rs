//! Operations on the whole store: backup, restore, verification and new keys.

pub mod clusters;

use std::sync::Arc;

use bytes::Bytes;
use common::api::admin::{Formats, RegisteredManager, Restored, Rotated, Verification};
use futures::Stream;
use jiff::Timestamp;

use crate::credentials::Vault;
use crate::error::Error;
use crate::store::kv::Registered;
use crate::store::maintenance::{archive, upgrade, verify};
use crate::store::{Store, StoreError, format};
use crate::workflow::Engine;

pub struct Admin {
    pub store: Store,
    pub engine: Engine,
    pub vault: Arc<Vault>,
}

impl Admin {
    /// A backup of the whole store as it is now.
    pub async fn backup(
        &self,
    ) -> Result<impl Stream<Item = Result<Bytes, StoreError>> + use<>, Error> {
        Ok(archive::backup(&self.store, Timestamp::now()).await?)
    }

    /// Fills an empty store and resumes the operations that ran when the backup was made. It runs in a task of its own:
    /// if the caller disconnects, the archive ends too early, and everything already restored must be removed again.
    pub async fn restore<S, E>(&self, archive: S) -> Result<Restored, Error>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + 'static,
        E: std::fmt::Display + 'static,
    {
        let (store, engine) = (self.store.clone(), self.engine.clone());
        let work = async move {
            let entries = archive::restore(&store, archive).await?;
            let resumed = engine.recover().await? as u64;
            tracing::info!(
                entries,
                resumed,
                "a backup of {entries} entries is restored"
            );
            Ok(Restored { entries, resumed })
        };
        let done = tokio::spawn(work).await;
        done.unwrap_or_else(|error| Err(StoreError::Broken(error.to_string()).into()))
    }

    /// Seals every record with a new key. It runs in a task of its own, so it continues when the caller disconnects.
    pub async fn rotate(&self) -> Result<Rotated, Error> {
        let vault = self.vault.clone();
        let done = tokio::spawn(async move { vault.rotate().await }).await;
        let done = done.map_err(|error| StoreError::Broken(error.to_string()))?;
        let (key, entries) = done?;
        let key = key.to_string();
        Ok(Rotated { key, entries })
    }

    /// Which format the store has, and which managers use it.
    pub async fn formats(&self) -> Result<Formats, Error> {
        let manager = |found: Registered| RegisteredManager {
            name: found.name,
            version: found.version,
            reads: found.reads,
        };
        let managers = self.store.managers().await?;
        Ok(Formats {
            in_force: self.store.format().number(),
            newest: format::NEWEST,
            managers: managers.into_iter().map(manager).collect(),
        })
    }

    /// Puts the newest format in force. It runs in a task of its own, so it continues when the caller disconnects.
    pub async fn upgrade(&self) -> Result<Formats, Error> {
        let store = self.store.clone();
        let done = tokio::spawn(async move { upgrade::raise(&store).await }).await;
        done.map_err(|error| StoreError::Broken(error.to_string()))??;
        self.formats().await
    }

    pub async fn verify(&self) -> Result<Verification, Error> {
        Ok(verify::verify(&self.store).await?)
    }
}
