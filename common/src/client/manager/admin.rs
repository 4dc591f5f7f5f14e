//! The whole store.

use bytes::Bytes;
use futures::{Stream, TryStreamExt};
use reqwest::{Body, Method};

use super::ManagerClient;
use crate::api::admin::{ARCHIVE, Formats, Restored, Rotated, Verification};
use crate::client::error::ClientError;

impl ManagerClient {
    /// The present contents of the store, as an archive for [`Self::restore`]. The manager keeps working. The archive
    /// is complete if the stream ends without an error.
    pub async fn backup(
        &self,
    ) -> Result<impl Stream<Item = Result<Bytes, ClientError>> + use<>, ClientError> {
        let request = self.endpoint.request(Method::GET, &["admin", "backup"]);
        let answer = self.endpoint.send(request, None).await?;
        let endpoint = self.endpoint.clone();
        Ok(answer
            .bytes_stream()
            .map_err(move |error| endpoint.failed(&error, None)))
    }

    /// Fills an empty store with an archive.
    pub async fn restore<S>(&self, archive: S) -> Result<Restored, ClientError>
    where
        S: Stream<Item = std::io::Result<Bytes>> + Send + 'static,
    {
        let request = self.endpoint.request(Method::POST, &["admin", "restore"]);
        let request = request
            .header("content-type", ARCHIVE)
            .body(Body::wrap_stream(archive));
        self.endpoint.fetch(request, None).await
    }

    /// Makes a new key for the store, and seals all entries with it.
    pub async fn rotate(&self) -> Result<Rotated, ClientError> {
        let request = self.endpoint.request(Method::POST, &["admin", "rotate"]);
        self.endpoint.fetch(request, None).await
    }

    /// The format of the store, and the managers that use it.
    pub async fn formats(&self) -> Result<Formats, ClientError> {
        let request = self.endpoint.request(Method::GET, &["admin", "upgrade"]);
        self.endpoint.fetch(request, None).await
    }

    /// Puts the newest format of the store in force.
    pub async fn upgrade_store(&self) -> Result<Formats, ClientError> {
        let request = self.endpoint.request(Method::POST, &["admin", "upgrade"]);
        self.endpoint.fetch(request, None).await
    }

    /// Reads the whole store and reports faults in it.
    pub async fn verify(&self) -> Result<Verification, ClientError> {
        let request = self.endpoint.request(Method::GET, &["admin", "verify"]);
        self.endpoint.fetch(request, None).await
    }
}
