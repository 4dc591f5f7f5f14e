//! The distribution protocol (OCI distribution specification 1.1): tags, manifests, blobs, authentication.
//!
//! The [`Transport`] decides which addresses are allowed, deadlines and retries. The client follows redirects itself. A
//! login is sent only to the registry and to the token server that the registry names. A blob on another host is
//! fetched without the login, and must have the expected digest.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LINK, LOCATION,
    WWW_AUTHENTICATE,
};
use reqwest::{Body, Method, Request, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::Url;

use super::challenge::Challenge;
use super::manifest::{self, Descriptor, Manifest};
use crate::address::loggable;
use crate::canonical::{Digest, digest_bytes};

/// The maximum size of a manifest: the specification's minimum for registries.
const MANIFEST_BYTES: usize = 4 * 1024 * 1024;
/// The maximum size of a page of a list, or of a token.
const PAGE_BYTES: usize = 4 * 1024 * 1024;
/// The requested page size. A registry may return fewer items.
const PAGE: &str = "1000";
const PAGES: usize = 1_000;
/// The maximum number of names in one list: ten times the templates of the largest registry that must be fast.
const NAMES: usize = 10_000;
const REDIRECTS: usize = 5;
/// How many repositories' tokens are kept. Beyond that, all are requested again.
const TOKENS: usize = 1_000;

/// Sends requests to the registry.
pub trait Transport: Send + Sync {
    type Error: std::error::Error + Send + Sync + 'static;

    /// Sends the request unchanged, and follows no redirect. A body of more than `limit` bytes is an error.
    fn send(
        &self,
        request: Request,
        limit: usize,
    ) -> impl Future<Output = Result<Answer, Self::Error>> + Send;

    /// The login as `Authorization: Basic …`. `None` for anonymous access.
    fn login(&self) -> impl Future<Output = Result<Option<HeaderValue>, Self::Error>> + Send;
}

/// An answer of any status.
#[derive(Debug)]
pub struct Answer {
    /// The URL of the request.
    pub url: Url,
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    fn target(&self) -> Option<Url> {
        self.url.join(self.header(LOCATION)?).ok()
    }

    /// `Link: </v2/a/tags/list?last=b&n=1>; rel="next"` (RFC 8288).
    fn next_page(&self) -> Option<String> {
        let (target, relation) = self.header(LINK)?.strip_prefix('<')?.split_once('>')?;
        relation.contains("next").then(|| target.to_owned())
    }
}

#[derive(Debug, thiserror::Error)]
pub enum OciError<E: std::error::Error + 'static> {
    #[error(transparent)]
    Transport(E),
    #[error("{url} is not open to {}: the registry answered {status}", who(*.login))]
    Closed {
        url: String,
        login: bool,
        status: StatusCode,
    },
    #[error("{url} answered {status}")]
    Status { url: String, status: StatusCode },
    #[error("{url} returned an answer that cannot be read: {reason}")]
    Malformed { url: String, reason: String },
    #[error("{url} redirects more than {REDIRECTS} times, to nowhere, or from https to http")]
    Redirects { url: String },
    #[error("{url} redirects to another host, {to}; only blobs may be elsewhere")]
    Elsewhere { url: String, to: String },
    #[error("{url} does not have the digest that it was asked by")]
    Digest { url: String },
    #[error("{url} lists more than {NAMES} names")]
    TooManyNames { url: String },
}

fn who(login: bool) -> &'static str {
    match login {
        true => "this credential",
        false => "everybody, and no credential is set",
    }
}

/// One registry, with the login of the transport.
#[derive(Debug)]
pub struct Client<T> {
    transport: T,
    base: Url,
    /// Tokens, by repository and action.
    tokens: Mutex<HashMap<String, HeaderValue>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RepositoryAction {
    Pull,
    Push,
}

#[derive(Deserialize)]
struct Tags {
    tags: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Catalog {
    repositories: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Token {
    token: Option<String>,
    access_token: Option<String>,
}

type Outcome<T, E> = Result<T, OciError<E>>;

impl<T: Transport> Client<T> {
    /// `base` is the root URL of the host.
    pub fn new(transport: T, base: Url) -> Self {
        Self {
            transport,
            base,
            tokens: Mutex::default(),
        }
    }

    /// The tags of a repository. `None` if there is no such repository.
    pub async fn tags(&self, repository: &str) -> Outcome<Option<BTreeSet<String>>, T::Error> {
        let url = self.url(repository, &["tags", "list"]);
        self.list(url, repository, |page: Tags| page.tags).await
    }

    /// All repositories. `None` if the registry does not list them for this login.
    pub async fn catalog(&self) -> Outcome<Option<BTreeSet<String>>, T::Error> {
        let mut url = self.base.clone();
        url.set_path("v2/_catalog");
        let listed = self.list(url, "", |page: Catalog| page.repositories).await;
        match listed {
            Err(OciError::Closed { .. }) => Ok(None),
            Err(OciError::Status {
                status: StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED,
                ..
            }) => Ok(None),
            listed => listed,
        }
    }

    /// The manifest of a tag, with its digest. `None` if there is no such tag.
    pub async fn manifest(
        &self,
        repository: &str,
        tag: &str,
    ) -> Outcome<Option<(Digest, Manifest)>, T::Error> {
        let url = self.url(repository, &["manifests", tag]);
        let mut request = Request::new(Method::GET, url.clone());
        let accept = HeaderValue::from_static(manifest::MANIFEST);
        request.headers_mut().insert(ACCEPT, accept);
        let found = self.found(request, repository, MANIFEST_BYTES).await?;
        let read = |answer: Answer| Ok((digest_bytes(&answer.body), parsed(&url, &answer.body)?));
        found.map(read).transpose()
    }

    /// The content that a manifest describes.
    pub async fn blob(
        &self,
        repository: &str,
        descriptor: &Descriptor,
        limit: usize,
    ) -> Outcome<Vec<u8>, T::Error> {
        let url = self.blob_url(repository, &descriptor.digest);
        let request = Request::new(Method::GET, url.clone());
        let mut answer = self
            .authorized(request, repository, RepositoryAction::Pull, limit)
            .await?;
        if answer.status.is_redirection() {
            answer = self.elsewhere(answer, limit).await?;
        }
        if !answer.status.is_success() {
            return Err(self.refused(&answer).await);
        }
        match descriptor.describes(&answer.body) {
            true => Ok(answer.body),
            false => Err(OciError::Digest {
                url: loggable(&url),
            }),
        }
    }

    /// The location of a content, for messages.
    pub fn blob_url(&self, repository: &str, digest: &Digest) -> Url {
        self.url(repository, &["blobs", &digest.to_string()])
    }

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

    fn url(&self, repository: &str, rest: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.clear()
                .push("v2")
                .extend(repository.split('/'))
                .extend(rest);
        }
        url
    }

    /// The pages of a list. Each page has the URL of the next.
    async fn list<P: DeserializeOwned>(
        &self,
        mut url: Url,
        repository: &str,
        names: impl Fn(P) -> Option<Vec<String>>,
    ) -> Outcome<Option<BTreeSet<String>>, T::Error> {
        url.query_pairs_mut().append_pair("n", PAGE);
        let mut all = BTreeSet::new();
        for _ in 0..PAGES {
            let request = Request::new(Method::GET, url.clone());
            let Some(page) = self.found(request, repository, PAGE_BYTES).await? else {
                return Ok(None);
            };
            all.extend(names(parsed(&url, &page.body)?).unwrap_or_default());
            if all.len() > NAMES {
                break;
            }
            match page.next_page() {
                Some(next) => url = self.within(&url, &next)?,
                None => return Ok(Some(all)),
            }
        }
        Err(OciError::TooManyNames {
            url: loggable(&url),
        })
    }

    /// A success, or `None` if it does not exist.
    async fn found(
        &self,
        mut request: Request,
        repository: &str,
        limit: usize,
    ) -> Outcome<Option<Answer>, T::Error> {
        for _ in 0..=REDIRECTS {
            let answer = self
                .authorized(copied(&request), repository, RepositoryAction::Pull, limit)
                .await?;
            match answer.status {
                status if status.is_success() => return Ok(Some(answer)),
                status if status.is_redirection() => *request.url_mut() = self.location(&answer)?,
                StatusCode::NOT_FOUND => return Ok(None),
                _ => return Err(self.refused(&answer).await),
            }
        }
        let url = request.url().to_string();
        Err(OciError::Redirects { url })
    }

    /// Follows the redirects of a blob without the login.
    async fn elsewhere(&self, first: Answer, limit: usize) -> Outcome<Answer, T::Error> {
        let mut answer = first;
        for _ in 0..REDIRECTS {
            let Some(to) = answer.target().filter(|to| keeps_tls(&answer.url, to)) else {
                break;
            };
            answer = self.send(Request::new(Method::GET, to), limit).await?;
            if !answer.status.is_redirection() {
                return Ok(answer);
            }
        }
        let url = loggable(&answer.url);
        Err(OciError::Redirects { url })
    }

    /// Sends a request with the current token, or with a new one if the registry asks for it.
    async fn authorized(
        &self,
        request: Request,
        repository: &str,
        access: RepositoryAction,
        limit: usize,
    ) -> Outcome<Answer, T::Error> {
        let held = format!("{access:?} {repository}");
        let token = self.tokens().get(&held).cloned();
        let answer = self.send(with(copied(&request), token), limit).await?;
        if answer.status != StatusCode::UNAUTHORIZED {
            return Ok(answer);
        }
        let challenges = answer.headers.get_all(WWW_AUTHENTICATE).into_iter();
        let challenge = challenges
            .filter_map(|value| Challenge::parse(value.to_str().ok()?))
            .next();
        let Some(token) = self.answer(challenge, repository, access).await? else {
            return Ok(answer);
        };
        self.keep(held, token.clone());
        self.send(with(request, Some(token)), limit).await
    }

    fn keep(&self, held: String, token: HeaderValue) {
        let mut tokens = self.tokens();
        if tokens.len() >= TOKENS {
            tokens.clear();
        }
        tokens.insert(held, token);
    }

    /// The answer to a challenge. `None` if there is no login for it.
    async fn answer(
        &self,
        challenge: Option<Challenge>,
        repository: &str,
        access: RepositoryAction,
    ) -> Outcome<Option<HeaderValue>, T::Error> {
        let login = self.transport.login().await.map_err(OciError::Transport)?;
        let (realm, service, scope) = match challenge {
            None => return Ok(None),
            Some(Challenge::Basic) => return Ok(login),
            Some(Challenge::Bearer {
                realm,
                service,
                scope,
            }) => (realm, service, scope),
        };
        if !keeps_tls(&self.base, &realm) {
            let url = loggable(&realm);
            return Err(OciError::Redirects { url });
        }
        let actions = match access {
            RepositoryAction::Pull => "pull",
            RepositoryAction::Push => "pull,push",
        };
        let scope = scope.unwrap_or_else(|| format!("repository:{repository}:{actions}"));
        let mut url = realm;
        url.query_pairs_mut()
            .extend_pairs(service.map(|service| ("service", service)))
            .append_pair("scope", &scope);
        let request = Request::new(Method::GET, url.clone());
        let answer = self.send(with(request, login), PAGE_BYTES).await?;
        if !answer.status.is_success() {
            return Err(self.refused(&answer).await);
        }
        // The parser's own message could quote the token.
        let given: Option<Token> = serde_json::from_slice(&answer.body).ok();
        let token = given.and_then(|given| given.token.or(given.access_token));
        let header = token.and_then(bearer);
        header.map(Some).ok_or_else(|| OciError::Malformed {
            url: loggable(&url),
            reason: "it holds no token".to_owned(),
        })
    }

    async fn refused(&self, answer: &Answer) -> OciError<T::Error> {
        let (url, status) = (loggable(&answer.url), answer.status);
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let login = self.transport.login().await;
                OciError::Closed {
                    url,
                    login: login.is_ok_and(|login| login.is_some()),
                    status,
                }
            }
            status => OciError::Status { url, status },
        }
    }

    /// The URL of the next request. It must be on the same host, because another host must not receive the login.
    fn location(&self, answer: &Answer) -> Outcome<Url, T::Error> {
        match answer.header(LOCATION) {
            Some(to) => self.within(&answer.url, to),
            None => Err(OciError::Redirects {
                url: loggable(&answer.url),
            }),
        }
    }

    fn within(&self, from: &Url, to: &str) -> Outcome<Url, T::Error> {
        let target = from.join(to).map_err(|_| OciError::Redirects {
            url: loggable(from),
        })?;
        match target.origin() == self.base.origin() {
            true => Ok(target),
            false => Err(OciError::Elsewhere {
                url: loggable(from),
                to: target.host_str().unwrap_or_default().to_owned(),
            }),
        }
    }

    async fn send(&self, request: Request, limit: usize) -> Outcome<Answer, T::Error> {
        let sent = self.transport.send(request, limit).await;
        sent.map_err(OciError::Transport)
    }

    fn tokens(&self) -> std::sync::MutexGuard<'_, HashMap<String, HeaderValue>> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bodies are in memory, so a request can be sent twice.
fn copied(request: &Request) -> Request {
    let mut copy = Request::new(request.method().clone(), request.url().clone());
    *copy.headers_mut() = request.headers().clone();
    let body = request.body().and_then(Body::as_bytes);
    *copy.body_mut() = body.map(|bytes| bytes.to_vec().into());
    copy
}

fn with(mut request: Request, authorization: Option<HeaderValue>) -> Request {
    if let Some(header) = authorization {
        request.headers_mut().insert(AUTHORIZATION, header);
    }
    request
}

fn bearer(token: String) -> Option<HeaderValue> {
    let mut header = HeaderValue::from_str(&format!("Bearer {token}")).ok()?;
    header.set_sensitive(true);
    Some(header)
}

/// A request over TLS is not redirected to one without TLS.
fn keeps_tls(from: &Url, to: &Url) -> bool {
    to.scheme() == "https" || to.scheme() == from.scheme()
}

fn parsed<T: DeserializeOwned, E: std::error::Error + 'static>(
    url: &Url,
    bytes: &[u8],
) -> Outcome<T, E> {
    serde_json::from_slice(bytes).map_err(|error| OciError::Malformed {
        url: loggable(url),
        reason: error.to_string(),
    })
}
