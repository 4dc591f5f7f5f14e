//! Sends requests to an OCI registry, within the allowed addresses and with the credential.

use common::registry::oci::{Answer, Transport};
use reqwest::Request;
use reqwest::header::HeaderValue;

use crate::transport::auth::Auth;
use crate::transport::{Web, WebError};

#[derive(Debug)]
pub struct Guarded {
    pub web: Web,
    pub auth: Option<Auth>,
    /// The host that the credential is for.
    pub base: String,
}

impl Transport for Guarded {
    type Error = WebError;

    async fn send(&self, request: Request, limit: usize) -> Result<Answer, WebError> {
        let url = request.url().clone();
        let answer = self.web.execute(request, limit).await?;
        Ok(Answer {
            url,
            status: answer.status,
            headers: answer.headers,
            body: answer.body,
        })
    }

    async fn login(&self) -> Result<Option<HeaderValue>, WebError> {
        let Some(auth) = &self.auth else {
            return Ok(None);
        };
        let header = auth.header().await.map_err(|source| WebError::Auth {
            url: self.base.clone(),
            source,
        })?;
        Ok(Some(header))
    }
}
