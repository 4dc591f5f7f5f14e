//! The HTTP client of registries, limited in size, time and addresses.
//!
//! References come from callers, so a request must not give access to the manager's network. Addresses that are not
//! public are rejected, also as the addresses of names: the check is part of making the connection, so a name cannot
//! change in between. Redirects to another host are rejected too. The client does not know what it fetches.

use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use common::address::loggable;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER,
};
use reqwest::{Certificate, Request, RequestBuilder, Response, StatusCode};
use url::{Host, Url};

use super::address_policy::{Guard, PrivateAddress, Reach, System};
use super::auth::Auth;
use super::error::WebError;
use super::hosts::Hosts;
use crate::cache::DiskCache;

const CONNECT: Duration = Duration::from_secs(5);
/// One request, with the body of its answer.
pub(super) const REQUEST: Duration = Duration::from_secs(15);
pub(super) const REDIRECTS: usize = 5;
/// Waits between the tries if the host or a gateway does not answer.
const BACKOFF: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(800)];

#[derive(Debug, Clone)]
pub struct Web {
    client: reqwest::Client,
    reach: Reach,
    auth: Option<Arc<Auth>>,
    /// Follows redirects to other hosts, without the credential. `None`: they are refused.
    outside: Option<Arc<Web>>,
    /// The realm. Realms share no responses and no refusals.
    pub(super) realm: String,
    pub(super) shared: Shared,
}

/// The shared parts of all clients.
#[derive(Debug, Clone, Default)]
pub struct Shared {
    hosts: Arc<Hosts>,
    pub(super) cache: Option<Arc<DiskCache>>,
    /// Authorities that are trusted in addition to the system's.
    trusted: Vec<Certificate>,
}

impl Shared {
    pub fn new(cache: Arc<DiskCache>, trusted: Vec<Certificate>) -> Self {
        Self {
            hosts: Arc::default(),
            cache: Some(cache),
            trusted,
        }
    }
}

/// An answer of any status but a redirect.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Web {
    /// A client without a cache.
    pub fn new(reach: Reach) -> Result<Self, WebError> {
        Self::with_shared(reach, &Shared::default())
    }

    pub fn with_shared(reach: Reach, shared: &Shared) -> Result<Self, WebError> {
        let builder = common::client::http::builder()
            .connect_timeout(CONNECT)
            .timeout(REQUEST)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("deployment-manager/", env!("CARGO_PKG_VERSION")))
            .tls_certs_merge(shared.trusted.iter().cloned())
            .no_proxy();
        let builder = match reach {
            Reach::PublicOnly | Reach::NotLinkLocal => {
                builder.dns_resolver(Arc::new(Guard::new(reach, System)))
            }
            Reach::Any => builder,
        };
        let client = builder.build().map_err(|error| WebError::Client {
            reason: innermost(&error).to_string(),
        })?;
        Ok(Self {
            client,
            reach,
            auth: None,
            outside: None,
            realm: format!("{reach:?}"),
            shared: shared.clone(),
        })
    }

    /// The realm, for other caches.
    pub fn realm(&self) -> &str {
        &self.realm
    }

    /// The same in a realm of its own: responses for one credential are not used for another.
    pub fn in_realm(&self, realm: &str) -> Self {
        Self {
            realm: format!("{} {realm}", self.realm),
            ..self.clone()
        }
    }

    /// The same, with the credential of a registry in every request. It follows no redirect to another host.
    pub fn with_auth(&self, auth: Auth) -> Self {
        Self {
            auth: Some(Arc::new(auth)),
            ..self.clone()
        }
    }

    /// The same, but redirects to other hosts are followed by `outside`, which decides about their addresses.
    pub fn leaving(self, outside: Web) -> Self {
        Self {
            outside: Some(Arc::new(outside)),
            ..self
        }
    }

    /// Follows redirects within the host. The body has at most `limit` bytes.
    pub async fn get(&self, url: &Url, accept: &str, limit: usize) -> Result<Answer, WebError> {
        self.ask(url, &[], accept, limit).await
    }

    pub(super) async fn ask(
        &self,
        url: &Url,
        conditions: &[(HeaderName, HeaderValue)],
        accept: &str,
        limit: usize,
    ) -> Result<Answer, WebError> {
        let (mut web, mut at) = (self, url.clone());
        for _ in 0..=REDIRECTS {
            let (to, refusal) = match web.ask_host(&at, conditions, accept, limit).await? {
                Followed::Answer(answer) => return Ok(answer),
                Followed::Elsewhere { to, refusal } => (to, refusal),
            };
            web = self.outside.as_deref().ok_or(refusal)?;
            if !may_follow(&at, &to) {
                break;
            }
            at = to;
        }
        Err(WebError::Redirects { url: loggable(url) })
    }

    async fn ask_host(
        &self,
        url: &Url,
        conditions: &[(HeaderName, HeaderValue)],
        accept: &str,
        limit: usize,
    ) -> Result<Followed, WebError> {
        self.check(url)?;
        let mut headers = self.authorization(url).await?;
        headers.extend(conditions.iter().cloned());
        let host = self.shared.hosts.for_url(url, &self.realm);
        let _turn = host.enter().await?;
        match self.follow(url, &headers, accept, limit).await {
            Ok(Followed::Answer(answer)) => host.judge(Ok(answer)).map(Followed::Answer),
            Ok(elsewhere) => Ok(elsewhere),
            Err(error) => host.judge(Err(error)).map(Followed::Answer),
        }
    }

    async fn follow(
        &self,
        url: &Url,
        headers: &HeaderMap,
        accept: &str,
        limit: usize,
    ) -> Result<Followed, WebError> {
        let mut at = url.clone();
        for _ in 0..=REDIRECTS {
            let get = || {
                let request = self.client.get(at.clone()).header(ACCEPT, accept);
                request.headers(headers.clone())
            };
            let response = send(&at, get).await?;
            if !response.status().is_redirection() || response.status() == StatusCode::NOT_MODIFIED
            {
                return read(response, &at, limit).await.map(Followed::Answer);
            }
            let to =
                target(&response, &at).ok_or_else(|| WebError::Redirects { url: loggable(url) })?;
            if to.origin() != url.origin() {
                let refusal = WebError::Elsewhere {
                    url: loggable(url),
                    to: to.host_str().unwrap_or_default().to_owned(),
                };
                return Ok(Followed::Elsewhere { to, refusal });
            }
            at = to;
        }
        Err(WebError::Redirects { url: loggable(url) })
    }

    /// Sends a form and follows no redirects.
    pub async fn post_form(
        &self,
        url: &Url,
        form: &[(&str, &str)],
        limit: usize,
    ) -> Result<Answer, WebError> {
        self.check(url)?;
        let body = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(form)
            .finish();
        let host = self.shared.hosts.for_url(url, &self.realm);
        let _turn = host.enter().await?;
        let request = self.client.post(url.clone()).body(body);
        let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let sent = request.send().await.map_err(|error| failed(url, &error));
        let outcome = match sent {
            Ok(response) => read(response, url, limit).await,
            Err(error) => Err(error),
        };
        host.judge(outcome)
    }

    async fn authorization(&self, url: &Url) -> Result<HeaderMap, WebError> {
        let mut headers = HeaderMap::new();
        if let Some(auth) = &self.auth {
            let refused = |source| WebError::Auth {
                url: loggable(url),
                source,
            };
            // A service account fetches its token with this client, and has no credential for that request.
            let header = Box::pin(auth.header()).await.map_err(refused)?;
            headers.insert(AUTHORIZATION, header);
        }
        Ok(headers)
    }

    /// Sends a request unchanged, without its own credential, and follows no redirects.
    pub async fn execute(&self, request: Request, limit: usize) -> Result<Answer, WebError> {
        self.check(request.url())?;
        let url = request.url().clone();
        let host = self.shared.hosts.for_url(&url, &self.realm);
        let _turn = host.enter().await?;
        host.judge(self.sent(request, &url, limit).await)
    }

    /// Retries requests that are safe to repeat.
    async fn sent(&self, request: Request, url: &Url, limit: usize) -> Result<Answer, WebError> {
        let again = || request.try_clone().filter(|_| request.method().is_safe());
        for wait in BACKOFF {
            let Some(again) = again() else {
                break;
            };
            match self.client.execute(again).await {
                Ok(response) if is_transient(&response) => {}
                Err(error) if is_refusal(&error) => {}
                Ok(response) => return read(response, url, limit).await,
                Err(error) => return Err(failed(url, &error)),
            }
            tokio::time::sleep(wait).await;
        }
        let last = self.client.execute(request).await;
        read(last.map_err(|error| failed(url, &error))?, url, limit).await
    }

    /// The addresses of a URL's host, if all of them are allowed. For programs that make their own connections.
    pub async fn addresses(&self, url: &Url) -> Result<Vec<IpAddr>, WebError> {
        self.check(url)?;
        let unreachable = |reason: String| WebError::Unreachable {
            url: loggable(url),
            reason,
        };
        let host = match url.host() {
            Some(Host::Ipv4(address)) => return Ok(vec![address.into()]),
            Some(Host::Ipv6(address)) => return Ok(vec![address.into()]),
            // For other schemes, the URL parser keeps the host as written.
            Some(Host::Domain(host)) => host.to_owned(),
            None => return Err(unreachable("it names no host".to_owned())),
        };
        let looked_up = tokio::time::timeout(CONNECT, tokio::net::lookup_host((host.as_str(), 0)));
        let found = match looked_up.await {
            Ok(found) => found.map_err(|error| unreachable(error.to_string()))?,
            Err(_) => return Err(unreachable("its name is not resolved in time".to_owned())),
        };
        let found: Vec<_> = found.map(|address| address.ip()).collect();
        match found.iter().find(|address| !self.reach.allows(**address)) {
            Some(&address) => Err(WebError::Private { host, address }),
            None => Ok(found),
        }
    }

    /// Literal addresses do not use the resolver.
    fn check(&self, url: &Url) -> Result<(), WebError> {
        let address = match url.host() {
            Some(Host::Ipv4(address)) => IpAddr::V4(address),
            Some(Host::Ipv6(address)) => IpAddr::V6(address),
            Some(Host::Domain(_)) | None => return Ok(()),
        };
        if self.reach.allows(address) {
            return Ok(());
        }
        Err(WebError::Private {
            host: url.host_str().unwrap_or_default().to_owned(),
            address,
        })
    }
}

/// What comes over TLS is not continued without it, and a redirect brings no login.
fn may_follow(at: &Url, to: &Url) -> bool {
    let is_web = to.scheme() == "https" || (to.scheme() == "http" && at.scheme() == "http");
    is_web && to.username().is_empty() && to.password().is_none()
}

/// Where a request to a host ended.
enum Followed {
    Answer(Answer),
    /// The host redirects to another one.
    Elsewhere {
        to: Url,
        refusal: WebError,
    },
}

/// Retried if the host or a gateway does not answer and gives no time.
async fn send(url: &Url, request: impl Fn() -> RequestBuilder) -> Result<Response, WebError> {
    for wait in BACKOFF {
        match request().send().await {
            Ok(response) if is_transient(&response) => {}
            Err(error) if is_refusal(&error) => {}
            outcome => return outcome.map_err(|error| failed(url, &error)),
        }
        tokio::time::sleep(wait).await;
    }
    let last = request().send().await;
    last.map_err(|error| failed(url, &error))
}

/// A timeout of the connection is not retried.
fn is_refusal(error: &reqwest::Error) -> bool {
    error.is_connect() && !error.is_timeout() && private(error).is_none()
}

fn is_transient(response: &Response) -> bool {
    let gateway = matches!(
        response.status(),
        StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT
    );
    gateway && !response.headers().contains_key(RETRY_AFTER)
}

fn target(response: &Response, at: &Url) -> Option<Url> {
    let location = response.headers().get(LOCATION)?.to_str().ok()?;
    at.join(location).ok()
}

async fn read(mut response: Response, url: &Url, limit: usize) -> Result<Answer, WebError> {
    let (status, headers) = (response.status(), response.headers().clone());
    let mut body = Vec::new();
    while let Some(chunk) = response
        .chunk()
        .await
        .map_err(|error| failed(url, &error))?
    {
        if body.len() + chunk.len() > limit {
            return Err(WebError::TooLarge {
                url: loggable(url),
                limit,
            });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Answer {
        status,
        headers,
        body,
    })
}

fn failed(url: &Url, error: &reqwest::Error) -> WebError {
    if let Some(PrivateAddress { host, address }) = private(error) {
        return WebError::Private {
            host: host.clone(),
            address: *address,
        };
    }
    let url = loggable(url);
    if error.is_timeout() {
        return WebError::TimedOut { url };
    }
    WebError::Unreachable {
        url,
        reason: innermost(error).to_string(),
    }
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// reqwest's own texts repeat the URL. The innermost cause says what happened.
fn innermost<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    chain(error).last().unwrap_or(error)
}

fn private(error: &reqwest::Error) -> Option<&PrivateAddress> {
    chain(error).find_map(|error| error.downcast_ref())
}

#[cfg(test)]
mod tests;
