//! Sends one request to the owner of the store, and gives its answer back as it comes.

use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use common::api::error::ErrorCode;
use common::client::ClientAccess;
use common::request_id;
use common::server::{ApiError, Peer};
use futures::future::ready;
use futures::{FutureExt as _, Stream, StreamExt as _, TryStreamExt as _, stream};
use reqwest::header::HeaderMap;
use reqwest::{Client, Method, Response, Url};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::proof::{self, Proof};
use super::repeatable::{KEY, Repeatable};
use super::{NOT_OWNER, STOPPING};
use crate::store::kv::Owner;

/// A request waits so long for an owner. A dead one is replaced within 7 s, and within 15 s if a leader of etcd died too.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(250);
/// An owner that stops answers 503 so long before it is replaced.
const LAST_WORDS: Duration = Duration::from_secs(1);
const CONNECT: Duration = Duration::from_secs(3);
/// They belong to one connection (RFC 9110, 7.6.1).
const OF_THE_CONNECTION: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

#[derive(Debug)]
pub struct Relay {
    owner: watch::Receiver<Option<Owner>>,
    url: fn(&Owner) -> Option<&str>,
    repeatable: Repeatable,
    client: Client,
    proof: Proof,
}

/// A request as it is sent, once or more often.
pub struct Message {
    method: Method,
    target: String,
    headers: HeaderMap,
    body: Bytes,
    is_repeatable: bool,
    /// The caller for which it is sent.
    peer: Peer,
}

impl Message {
    /// Its `Idempotency-Key`.
    pub fn key(&self) -> Option<&[u8]> {
        self.headers.get(KEY).map(|key| key.as_bytes())
    }
}

impl Relay {
    pub fn new(
        owner: watch::Receiver<Option<Owner>>,
        url: fn(&Owner) -> Option<&str>,
        repeatable: Repeatable,
        access: &ClientAccess,
        proof: Proof,
    ) -> reqwest::Result<Self> {
        let client = access
            .builder()
            .connect_timeout(CONNECT)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()?;
        Ok(Self {
            owner,
            url,
            repeatable,
            client,
            proof,
        })
    }

    pub fn has_owner(&self) -> bool {
        self.owner.borrow().is_some()
    }

    /// # Errors
    /// `Unavailable` if no manager has the store in time, or if the one that had it stopped and the request may not be
    /// sent again.
    pub async fn forward(
        &self,
        request: &HttpRequest,
        body: Bytes,
    ) -> Result<HttpResponse, ApiError> {
        self.send_on(&self.message(request, body)?).await
    }

    /// As [`Self::forward`].
    pub async fn send_on(&self, message: &Message) -> Result<HttpResponse, ApiError> {
        let (answer, owner) = self.answer(message).await?;
        Ok(reply(answer, self.replaced(owner)))
    }

    /// None if the owner knows the caller of a request; otherwise its refusal.
    pub async fn is_known(&self, request: &HttpRequest) -> Result<Option<HttpResponse>, ApiError> {
        let mut question = self.message(request, Bytes::new())?;
        "/whoami".clone_into(&mut question.target);
        let (answer, owner) = self.answer(&question).await?;
        Ok((!answer.status().is_success()).then(|| reply(answer, self.replaced(owner))))
    }

    /// Whether a request is safe to send again, and has a body that must be kept for it.
    pub fn is_repeatable(&self, request: &HttpRequest) -> (bool, bool) {
        let method = Method::from_bytes(proof::method(request).as_bytes());
        let method = method.unwrap_or(Method::CONNECT);
        let is_read = matches!(method, Method::GET | Method::HEAD);
        (self.repeatable.allows(&method, request.path()), !is_read)
    }

    /// The request as it is sent on. A write that needs an `Idempotency-Key` for it receives one.
    pub fn message(&self, request: &HttpRequest, body: Bytes) -> Result<Message, ApiError> {
        let unreadable = |_| ApiError::new(ErrorCode::InvalidRequest, "the method cannot be read");
        let method = Method::from_bytes(proof::method(request).as_bytes()).map_err(unreadable)?;
        let target = request.uri().path_and_query();
        let path = request.uri().path();
        let mut headers = passed_on(request);
        if self.repeatable.needs_key(&method, path) && !headers.contains_key(KEY) {
            let key = reqwest::header::HeaderValue::from_str(&request_id::fresh());
            headers.insert(KEY, key.map_err(|error| ApiError::internal(&error))?);
        }
        if let Some(id) = request_id::current()
            && let Ok(id) = reqwest::header::HeaderValue::from_str(&id)
        {
            headers.insert(request_id::HEADER, id);
        }
        Ok(Message {
            target: target.map_or_else(|| path.to_owned(), |target| target.as_str().to_owned()),
            is_repeatable: self.repeatable.allows(&method, path),
            method,
            headers,
            body,
            peer: Peer::from_request(request),
        })
    }

    /// The header that proves to the owner which caller the message is from. It is made for each sending, as it is valid
    /// for minutes only.
    fn proof(&self, message: &Message) -> Result<reqwest::header::HeaderValue, ApiError> {
        let peer = message.peer.clone();
        let proof = self
            .proof
            .of(peer, message.method.as_str(), &message.target);
        let no_proof = || ApiError::new(ErrorCode::Internal, "the system gives no random numbers");
        let proof = reqwest::header::HeaderValue::from_str(&proof.ok_or_else(no_proof)?);
        proof.map_err(|error| ApiError::internal(&error))
    }

    /// The answer, and the owner that gives it.
    async fn answer(&self, message: &Message) -> Result<(Response, Owner), ApiError> {
        let mut owners = self.owner.clone();
        let mut failing_since = None;
        loop {
            let owner = present(&mut owners).await?;
            let url = self.address(&owner, message)?;
            let proof = self.proof(message)?;
            let begun = Instant::now();
            // A manager that is paused keeps its connections, and never answers.
            let sent = tokio::select! {
                sent = self.send(url, proof, message) => Some(sent),
                () = self.replaced(owner.clone()) => None,
            };
            match sent {
                Some(Ok(answer)) if answer.headers().contains_key(NOT_OWNER) => {}
                Some(Ok(answer))
                    if answer.headers().contains_key(STOPPING) && message.is_repeatable => {}
                Some(Ok(answer)) if answer.status().as_u16() == 503 && message.is_repeatable => {
                    if !changes(&mut owners, &owner, LAST_WORDS).await {
                        return Ok((answer, owner));
                    }
                }
                Some(Ok(answer)) => return Ok((answer, owner)),
                Some(Err(error)) if error.is_connect() || message.is_repeatable => {
                    tracing::debug!(%error, "manager {} gave no answer", owner.name);
                }
                None if message.is_repeatable => {
                    tracing::debug!("manager {} was replaced before it answered", owner.name);
                }
                Some(Err(error)) => return Err(broken_off(&owner, &error)),
                None => return Err(broken_off(&owner, &"another manager has the store")),
            }
            let since = *failing_since.get_or_insert(begun);
            if since.elapsed() > PATIENCE {
                // A long answer was broken off: the wait for the next owner begins now.
                if begun.elapsed() < PATIENCE {
                    return Err(unavailable(&format!(
                        "manager {} has the store, and gives no answer",
                        owner.name
                    )));
                }
                failing_since = None;
            }
            changes(&mut owners, &owner, PAUSE).await;
        }
    }

    /// Waits until the manager no longer has the store, and has had the time to say so.
    fn replaced(&self, owner: Owner) -> impl Future<Output = ()> + use<> {
        let mut owners = self.owner.clone();
        async move {
            let other = owners.wait_for(|seen| seen.as_ref() != Some(&owner));
            if other.await.is_err() {
                return std::future::pending().await;
            }
            tokio::time::sleep(LAST_WORDS).await;
        }
    }

    fn address(&self, owner: &Owner, message: &Message) -> Result<Url, ApiError> {
        let unknown = || {
            unavailable(&format!(
                "manager {} has the store, and its address is not known: start it with --advertise URL",
                owner.name
            ))
        };
        let base = (self.url)(owner).ok_or_else(unknown)?;
        let url = format!("{}{}", base.trim_end_matches('/'), message.target);
        Url::parse(&url).map_err(|_| unknown())
    }

    async fn send(
        &self,
        url: Url,
        proof: reqwest::header::HeaderValue,
        message: &Message,
    ) -> reqwest::Result<Response> {
        let request = self.client.request(message.method.clone(), url);
        let request = request.headers(message.headers.clone());
        let request = request.header(proof::HEADER, proof);
        let request = match message.body.is_empty() {
            true => request,
            false => request.body(message.body.clone()),
        };
        request.send().await
    }
}

/// The owner, as soon as there is one.
async fn present(owners: &mut watch::Receiver<Option<Owner>>) -> Result<Owner, ApiError> {
    let found = timeout(PATIENCE, owners.wait_for(Option::is_some)).await;
    let found = found.ok().and_then(|found| found.ok()?.clone());
    found.ok_or_else(|| unavailable("no manager has the store at the moment"))
}

/// Whether another manager has the store within a time.
async fn changes(
    owners: &mut watch::Receiver<Option<Owner>>,
    from: &Owner,
    within: Duration,
) -> bool {
    let other = owners.wait_for(|owner| owner.as_ref() != Some(from));
    timeout(within, other).await.is_ok()
}

fn unavailable(reason: &str) -> ApiError {
    ApiError::new(ErrorCode::Unavailable, format!("{reason}; try again"))
}

fn broken_off(owner: &Owner, error: &dyn std::fmt::Display) -> ApiError {
    tracing::warn!(%error, "manager {} broke a request off: {error}", owner.name);
    let message = format!(
        "manager {} stopped before it answered, and it is not known whether the request was carried out: look, and repeat it if it was not",
        owner.name
    );
    ApiError::new(ErrorCode::Unavailable, message)
}

/// The caller's headers, without those of the connection and those that only managers send.
fn passed_on(request: &HttpRequest) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in request.headers() {
        let is_own = OF_THE_CONNECTION.contains(&name.as_str())
            || matches!(name.as_str(), "content-length" | proof::HEADER);
        let name = reqwest::header::HeaderName::from_bytes(name.as_str().as_bytes());
        let value = reqwest::header::HeaderValue::from_bytes(value.as_bytes());
        if let (false, Ok(name), Ok(value)) = (is_own, name, value) {
            headers.append(name, value);
        }
    }
    headers
}

/// The answer as it comes. It breaks off when its manager is replaced.
fn reply(answer: Response, replaced: impl Future<Output = ()> + 'static) -> HttpResponse {
    let status = StatusCode::from_u16(answer.status().as_u16());
    let mut reply = HttpResponse::build(status.unwrap_or(StatusCode::BAD_GATEWAY));
    for (name, value) in answer.headers() {
        let name = HeaderName::from_bytes(name.as_str().as_bytes());
        let value = HeaderValue::from_bytes(value.as_bytes());
        if let (Ok(name), Ok(value)) = (name, value)
            && !OF_THE_CONNECTION.contains(&name.as_str())
            && name.as_str() != "content-length"
        {
            reply.append_header((name, value));
        }
    }
    match answer.content_length() {
        Some(0) => reply.finish(),
        Some(length) => reply.no_chunking(length).streaming(until(replaced, answer)),
        None => reply.streaming(until(replaced, answer)),
    }
}

/// The bytes of the answer, with an error if it was not whole before.
fn until(
    replaced: impl Future<Output = ()> + 'static,
    answer: Response,
) -> impl Stream<Item = std::io::Result<Bytes>> {
    let bytes = answer.bytes_stream().map_err(std::io::Error::other);
    let whole = bytes.map(Some).chain(stream::once(async { None }));
    let broken = replaced.map(|()| Some(Err(std::io::Error::other("its manager was replaced"))));
    let both = stream::select(whole.boxed_local(), broken.into_stream().boxed_local());
    both.scan((), |(), part| ready(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_happened_is_to_be_looked_at_and_not_simply_tried_again() {
        let owner = Owner::this(None, None);
        let said = broken_off(&owner, &"reset").0.message;
        assert!(said.contains("look, and repeat it if it was not"), "{said}");
        assert!(!said.contains("try again"), "{said}");
    }
}
