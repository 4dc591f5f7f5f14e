//! The shared part of all writes: their query, their conditions, and how they are sent.

use reqwest::{Method, RequestBuilder};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::ManagerClient;
use crate::api::manager::{IDEMPOTENCY_KEY, WriteQuery};
use crate::client::error::ClientError;

/// The answer to a write: the result, or the operation with `Prefer: respond-async`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    WhenDone,
    AtOnce,
}

/// The parts of a write beside its body.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Write {
    pub query: WriteQuery,
    /// The fingerprint of the deployment. The write is rejected if the deployment has another one then.
    pub if_match: Option<String>,
    /// A repeated request with the same key gets the first answer. With a key, the client repeats a write until it has
    /// an answer.
    pub idempotency_key: Option<String>,
}

impl From<&WriteQuery> for Write {
    fn from(query: &WriteQuery) -> Self {
        Self {
            query: query.clone(),
            ..Self::default()
        }
    }
}

impl Write {
    fn headers(&self, mut request: RequestBuilder) -> RequestBuilder {
        if let Some(fingerprint) = &self.if_match {
            request = request.header("if-match", format!("\"{fingerprint}\""));
        }
        if let Some(key) = &self.idempotency_key {
            request = request.header(IDEMPOTENCY_KEY, key);
        }
        request
    }
}

/// The body of a write without a body.
pub(super) const NOTHING: Option<&()> = None;

impl ManagerClient {
    pub(super) async fn post<T: DeserializeOwned + Send + 'static>(
        &self,
        segments: &[&str],
        write: impl Into<Write>,
        body: &impl Serialize,
        answer: Answer,
    ) -> Result<T, ClientError> {
        self.write(Method::POST, segments, write, Some(body), answer)
            .await
    }

    /// With an idempotency key, the write is repeated until there is an answer. Without one it is sent once, because
    /// only the deployment shows whether an unanswered write was done. The manager limits the time.
    pub(super) async fn write<T: DeserializeOwned + Send + 'static>(
        &self,
        method: Method,
        segments: &[&str],
        write: impl Into<Write>,
        body: Option<&impl Serialize>,
        answer: Answer,
    ) -> Result<T, ClientError> {
        let write = write.into();
        let send = || {
            let request = self
                .endpoint
                .with_query(method.clone(), segments, &write.query);
            let request = match body {
                Some(body) => request.json(body),
                None => request,
            };
            prefer(write.headers(request), answer)
        };
        match &write.idempotency_key {
            Some(_) => self.endpoint.fetch_repeatedly(send, None).await,
            None => self.endpoint.fetch(send(), None).await,
        }
    }
}

fn prefer(request: RequestBuilder, answer: Answer) -> RequestBuilder {
    match answer {
        Answer::WhenDone => request,
        Answer::AtOnce => request.header("prefer", "respond-async"),
    }
}
