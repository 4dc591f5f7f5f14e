//! One request and its answer: the shared part of the typed clients.

mod bases;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Method, RequestBuilder, Response, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;

use self::bases::Bases;
use super::access::{Bearer, ClientAccess};
use super::error::ClientError;
use super::handshake::{self, Fault};
use crate::api::error::{ErrorBody, ErrorCode};
use crate::json::{self, JsonError, Limits, Scan, TooLarge};
use crate::telemetry::traces;
use crate::work::Size;
use crate::{request_id, work};

/// Connecting takes milliseconds where these services run. After this long, there is no service.
const CONNECT: Duration = Duration::from_secs(3);
/// Waits between the tries of a call that is safe to repeat.
const BACKOFF: [Duration; 3] = [
    Duration::from_millis(100),
    Duration::from_millis(400),
    Duration::from_millis(1000),
];

/// A service at an address.
#[derive(Clone)]
pub struct Endpoint {
    http: reqwest::Client,
    bases: Arc<Bases>,
    service: &'static str,
    answers: Limits,
    bearer: Option<Arc<dyn Bearer>>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("base", &self.bases.current().as_str())
            .finish_non_exhaustive()
    }
}

impl Endpoint {
    /// `base` is a URL like `http://127.0.0.1:8081`, `service` its name in errors, `answers` the maximum size of its
    /// answers.
    pub fn new(
        service: &'static str,
        base: &str,
        answers: Limits,
        access: &ClientAccess,
    ) -> Result<Self, ClientError> {
        Self::at_any(service, &[base], answers, access)
    }

    /// A service that answers alike at several addresses: the first one that can be reached is used, until it cannot.
    pub(super) fn at_any(
        service: &'static str,
        bases: &[&str],
        answers: Limits,
        access: &ClientAccess,
    ) -> Result<Self, ClientError> {
        let base = bases.join(",");
        let bases = Bases::new(bases)?;
        let http = access
            .builder()
            .connect_timeout(CONNECT)
            .no_proxy()
            .build()
            .map_err(|error| ClientError::Untrusted {
                service,
                url: base,
                reason: root_cause(&error),
            })?;
        Ok(Self {
            http,
            bases: Arc::new(bases),
            service,
            answers,
            bearer: access.bearer.clone(),
        })
    }

    /// The address in use.
    pub fn url(&self) -> &Url {
        self.bases.current()
    }

    /// The service's name in errors.
    pub fn service(&self) -> &'static str {
        self.service
    }

    /// A request to `/segment/segment` with the current request id. Each segment is percent-encoded.
    pub fn request(&self, method: Method, segments: &[&str]) -> RequestBuilder {
        let mut url = self.bases.current().clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        let request = self.http.request(method, url);
        let request = match request_id::current() {
            Some(id) => request.header(request_id::HEADER, id),
            None => request,
        };
        match traces::current() {
            Some(span) => request.header(traces::HEADER, span),
            None => request,
        }
    }

    /// The body of a request as JSON. Repeated requests share it.
    pub(super) async fn body<T: Serialize + Send + Sync + 'static>(
        &self,
        value: Arc<T>,
    ) -> Result<Bytes, ClientError> {
        let written = work::json(value).await;
        let written = written.map_err(|error| self.broken_off(format!("it was not sent: {error}")));
        Ok(written?.into())
    }

    /// Sends the request and returns the answer's head if it is a success. `deadline` limits the wait for the whole
    /// answer. Without it there is no limit.
    pub async fn send(
        &self,
        request: RequestBuilder,
        deadline: Option<Duration>,
    ) -> Result<Response, ClientError> {
        let response = self.any(request, deadline).await?;
        if response.status().is_success() {
            return Ok(response);
        }
        Err(self.refusal(response).await)
    }

    /// Sends the request, and returns the head of any answer. `deadline` is as in [`Self::send`].
    pub(super) async fn any(
        &self,
        request: RequestBuilder,
        deadline: Option<Duration>,
    ) -> Result<Response, ClientError> {
        let request = match deadline {
            Some(deadline) => request.timeout(deadline),
            None => request,
        };
        self.answer(request, deadline).await
    }

    /// The bytes of an answer, within the endpoint's limits.
    pub(super) async fn whole(
        &self,
        response: Response,
        deadline: Option<Duration>,
    ) -> Result<Vec<u8>, ClientError> {
        self.text(response, self.answers, deadline).await
    }

    /// Sends the request with the client's token, and returns any answer.
    async fn answer(
        &self,
        request: RequestBuilder,
        deadline: Option<Duration>,
    ) -> Result<Response, ClientError> {
        let request = match self.token().await? {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        let answer = self.reached(request).await;
        answer.map_err(|error| self.failed(&error, deadline))
    }

    /// Sends the request to the address in use, and to the next ones if there is no connection: then nothing was sent.
    async fn reached(&self, request: RequestBuilder) -> reqwest::Result<Response> {
        let mut request = request.build()?;
        for _ in 1..self.bases.count() {
            let Some(again) = request.try_clone() else {
                break;
            };
            match self.http.execute(request).await {
                Err(error) if error.is_connect() => {
                    self.bases.leave();
                    request = again;
                    self.bases.redirect(request.url_mut());
                }
                answer => return answer,
            }
        }
        self.http.execute(request).await
    }

    async fn token(&self) -> Result<Option<String>, ClientError> {
        let Some(bearer) = &self.bearer else {
            return Ok(None);
        };
        let token = bearer.token().await;
        token.map_err(|reason| ClientError::NoToken {
            service: self.service,
            reason,
        })
    }

    /// Sends the request and decodes the answer.
    pub async fn fetch<T: DeserializeOwned + Send + 'static>(
        &self,
        request: RequestBuilder,
        deadline: Option<Duration>,
    ) -> Result<T, ClientError> {
        let response = self.send(request, deadline).await?;
        let text = self.text(response, self.answers, deadline).await?;
        self.read(text).await
    }

    /// The text of an answer. It fails at the first byte over the limit.
    async fn text(
        &self,
        mut response: Response,
        limits: Limits,
        deadline: Option<Duration>,
    ) -> Result<Vec<u8>, ClientError> {
        let mut scan = Scan::new(limits);
        let mut text = Vec::new();
        let failed = |error| self.failed(&error, deadline);
        while let Some(part) = response.chunk().await.map_err(failed)? {
            scan.take(&part).map_err(|reason| self.too_large(reason))?;
            text.extend_from_slice(&part);
        }
        Ok(text)
    }

    /// The value of a text from [`Self::text`].
    async fn read<T: DeserializeOwned + Send + 'static>(
        &self,
        text: Vec<u8>,
    ) -> Result<T, ClientError> {
        let read = work::sized(Size::bytes(text.len()), move || {
            serde_json::from_slice(&text)
        })
        .await;
        read.map_err(|error| self.malformed(&error.to_string()))
    }

    /// The value of one text of a larger answer, such as a line of it.
    pub(super) async fn document<T: DeserializeOwned + Send + 'static>(
        &self,
        text: String,
    ) -> Result<T, ClientError> {
        let limits = self.answers;
        let read = work::sized(Size::bytes(text.len()), move || {
            json::from_slice(text.as_bytes(), &limits)
        });
        read.await.map_err(|error| match error {
            JsonError::TooLarge(reason) => self.too_large(reason),
            JsonError::Malformed(error) => self.malformed(&error.to_string()),
        })
    }

    /// [`Self::fetch`] with retries while the service is unreachable. Only for requests that are safe to repeat.
    pub async fn fetch_repeatedly<T: DeserializeOwned + Send + 'static>(
        &self,
        request: impl Fn() -> RequestBuilder,
        deadline: impl Into<Option<Duration>>,
    ) -> Result<T, ClientError> {
        let deadline = deadline.into();
        repeatedly(|| self.fetch(request(), deadline)).await
    }

    /// `GET` with retries while the service is unreachable.
    pub async fn get<T: DeserializeOwned + Send + 'static>(
        &self,
        segments: &[&str],
        query: &impl Serialize,
        deadline: Duration,
    ) -> Result<T, ClientError> {
        self.fetch_repeatedly(|| self.with_query(Method::GET, segments, query), deadline)
            .await
    }

    /// A request with a query. Parameters without a value are left out.
    pub fn with_query(
        &self,
        method: Method,
        segments: &[&str],
        query: &impl Serialize,
    ) -> RequestBuilder {
        self.request(method, segments).query(query)
    }

    pub(super) fn failed(&self, error: &reqwest::Error, deadline: Option<Duration>) -> ClientError {
        let (service, url) = (self.service, self.bases.current().to_string());
        let reason = root_cause(error);
        match handshake::fault(error) {
            Some(Fault::Untrusted(reason)) => {
                return ClientError::Untrusted {
                    service,
                    url,
                    reason,
                };
            }
            Some(Fault::Refused(reason)) => {
                return ClientError::CertificateRefused {
                    service,
                    url,
                    reason,
                };
            }
            None => {}
        }
        self.bases.leave();
        if error.is_connect() {
            return ClientError::Unreachable {
                service,
                url: self.bases.to_string(),
                reason,
            };
        }
        match deadline {
            Some(deadline) if error.is_timeout() => ClientError::TimedOut {
                service,
                url,
                deadline,
            },
            _ => ClientError::BrokenOff {
                service,
                url,
                reason,
            },
        }
    }

    pub(super) fn malformed(&self, reason: &str) -> ClientError {
        ClientError::Malformed {
            service: self.service,
            url: self.bases.current().to_string(),
            reason: reason.to_owned(),
        }
    }

    fn too_large(&self, reason: TooLarge) -> ClientError {
        ClientError::TooLarge {
            service: self.service,
            url: self.bases.current().to_string(),
            reason,
        }
    }

    /// From now on, the next address is used, if there are several.
    pub(super) fn broken_off(&self, reason: impl Into<String>) -> ClientError {
        let url = self.bases.current().to_string();
        self.bases.leave();
        ClientError::BrokenOff {
            service: self.service,
            url,
            reason: reason.into(),
        }
    }

    async fn refusal(&self, response: Response) -> ClientError {
        let status = response.status();
        let retry_after = seconds(response.headers());
        // An incomplete body is treated like one that is not an error body.
        let text = match self.text(response, Limits::ERROR, None).await {
            Err(error @ ClientError::TooLarge { .. }) => return error,
            text => text.unwrap_or_default(),
        };
        match self.read::<ErrorBody>(text).await {
            Ok(mut body) => {
                body.retry_after = retry_after;
                ClientError::Answered(Box::new(body))
            }
            // A server closes an idle connection with 408, possibly while a request is arriving.
            Err(_) if matches!(status.as_u16(), 408 | 503) => {
                self.broken_off(format!("it answered {status}"))
            }
            Err(_) => self.malformed(&format!("status {status} without an error body")),
        }
    }
}

/// The call, repeated while the service is unreachable.
pub(super) async fn repeatedly<T, F>(call: impl Fn() -> F) -> Result<T, ClientError>
where
    F: Future<Output = Result<T, ClientError>>,
{
    for wait in BACKOFF {
        match call().await {
            Err(error) if error.is_transient() => {
                tokio::time::sleep(wait.max(error.retry_after())).await;
            }
            outcome => return outcome,
        }
    }
    call().await
}

/// A request with a body that is JSON already.
pub(super) fn with_body(request: RequestBuilder, body: Bytes) -> RequestBuilder {
    let json = HeaderValue::from_static("application/json");
    request.header(CONTENT_TYPE, json).body(body)
}

/// `Retry-After` in seconds (RFC 9110). These services do not use its date form.
fn seconds(headers: &HeaderMap) -> Option<u64> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()
}

/// A client builder with TLS by rustls and ring: no C library, the same on all platforms.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the builder for all others"
)]
pub fn builder() -> reqwest::ClientBuilder {
    // `Err` means that an earlier call has installed a provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // What reads a stranger's answers bounds them as HTTP/1 has them.
    reqwest::Client::builder().http1_only()
}

/// Why a request has no answer, for people.
pub fn reason(error: &reqwest::Error) -> String {
    match handshake::fault(error) {
        Some(Fault::Untrusted(reason)) => format!("its certificate is not trusted: {reason}"),
        Some(Fault::Refused(reason)) => format!("it refuses the client certificate: {reason}"),
        None => root_cause(error),
    }
}

/// reqwest's own texts repeat the URL. The innermost cause says what happened.
fn root_cause(error: &reqwest::Error) -> String {
    let start: &(dyn std::error::Error + 'static) = error;
    std::iter::successors(Some(start), |error| error.source())
        .last()
        .map_or_else(String::new, ToString::to_string)
}

/// The code for an unreachable service, if no table has a better one.
impl From<ClientError> for ErrorBody {
    fn from(error: ClientError) -> Self {
        error.into_body(ErrorCode::Unavailable)
    }
}

impl Endpoint {
    /// `GET /readyz`: a service that is not ready answers 503 with the same body.
    pub async fn readiness(
        &self,
        deadline: Duration,
    ) -> Result<crate::server::observe::health::Readiness, ClientError> {
        let request = self.request(Method::GET, &["readyz"]).timeout(deadline);
        let response = self.answer(request, Some(deadline)).await?;
        let text = self.text(response, Limits::ERROR, Some(deadline)).await?;
        self.read(text).await
    }
}
