//! What all writes have in common: their query, their conditions, and how they are sent.

use reqwest::{Method, RequestBuilder};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::ManagerClient;
use crate::api::manager::{IDEMPOTENCY_KEY, WriteQuery};
use crate::client::error::ClientError;

/// What a write answers: the result, or with `Prefer: respond-async` the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    WhenDone,
    AtOnce,
}

/// What goes with a write beside its body.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Write {
    pub query: WriteQuery,
    /// The deployment's fingerprint: the write is refused if it has another one by then.
    pub if_match: Option<String>,
    /// The same key again gets the answer of the first time: with one, a write is repeated until it is answered.
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

/// The body of a write that has none.
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

    /// Sent once, as whether a write that got no answer was done, only the deployment tells; with an idempotency key
    /// repeatedly. The manager bounds the time.
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
