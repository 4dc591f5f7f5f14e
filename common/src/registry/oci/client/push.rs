//! Puts contents and manifests into a registry.

use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Request, StatusCode};

use super::login::RepositoryAction;
use super::{Answer, Client, OciError, Outcome, PAGE_BYTES, Transport};
use crate::address::loggable;
use crate::canonical::digest_bytes;
use crate::registry::oci::manifest::{self, Manifest};

impl<T: Transport> Client<T> {
    /// Uploads a content, unless the registry has it.
    pub async fn push_blob(&self, repository: &str, content: &[u8]) -> Outcome<(), T::Error> {
        let digest = digest_bytes(content);
        let url = self.blob_url(repository, &digest);
        let head = Request::new(Method::HEAD, url);
        let known = self.pushed(head, repository).await?;
        if known.status.is_success() {
            return Ok(());
        }
        let mut begin = self.url(repository, &["blobs", "uploads"]);
        // The specification's path ends with a `/`.
        begin.set_path(&format!("{}/", begin.path()));
        let request = Request::new(Method::POST, begin);
        let begun = self.pushed(request, repository).await?;
        if begun.status != StatusCode::ACCEPTED {
            return Err(self.refused(&begun).await);
        }
        let mut upload = self.location(&begun)?;
        upload
            .query_pairs_mut()
            .append_pair("digest", &digest.to_string());
        let mut request = Request::new(Method::PUT, upload.clone());
        let octets = HeaderValue::from_static("application/octet-stream");
        request.headers_mut().insert(CONTENT_TYPE, octets);
        *request.body_mut() = Some(content.to_vec().into());
        self.created(request, repository).await
    }

    /// Tags a manifest whose contents are uploaded.
    pub async fn push_manifest(
        &self,
        repository: &str,
        tag: &str,
        manifest: &Manifest,
    ) -> Outcome<(), T::Error> {
        let url = self.url(repository, &["manifests", tag]);
        let body = serde_json::to_vec(manifest).map_err(|error| OciError::Malformed {
            url: loggable(&url),
            reason: error.to_string(),
        })?;
        let mut request = Request::new(Method::PUT, url);
        let kind = HeaderValue::from_static(manifest::MANIFEST);
        request.headers_mut().insert(CONTENT_TYPE, kind);
        *request.body_mut() = Some(body.into());
        self.created(request, repository).await
    }

    async fn created(&self, request: Request, repository: &str) -> Outcome<(), T::Error> {
        let answer = self.pushed(request, repository).await?;
        match answer.status {
            StatusCode::CREATED => Ok(()),
            _ => Err(self.refused(&answer).await),
        }
    }

    async fn pushed(&self, request: Request, repository: &str) -> Outcome<Answer, T::Error> {
        self.authorized(request, repository, RepositoryAction::Push, PAGE_BYTES)
            .await
    }
}
