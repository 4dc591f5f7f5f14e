//! What operators do with the whole store.

use bytes::Bytes;
use common::api::admin::{Restored, Verification};
use futures::Stream;
use jiff::Timestamp;

use crate::error::Error;
use crate::store::{Store, StoreError, archive, verify};
use crate::workflow::Engine;

pub struct Admin {
    pub store: Store,
    pub engine: Engine,
}

impl Admin {
    /// All as it is now, as an archive.
    pub async fn backup(
        &self,
    ) -> Result<impl Stream<Item = Result<Bytes, StoreError>> + use<>, Error> {
        Ok(archive::backup(&self.store, Timestamp::now()).await?)
    }

    /// Fills an empty store, and goes on with what was running when the backup was made. In a task of its own: a caller
    /// that goes away ends the archive too early, and what it brought must be removed again.
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

    pub async fn verify(&self) -> Result<Verification, Error> {
        Ok(verify::verify(&self.store).await?)
    }
}
