//! Requests on behalf of a template reference, bounded in size, time and reach.
//!
//! References come from callers, so a fetch must not become a door into the network that the manager stands in:
//! addresses that are not public are refused – also those that a name resolves to, checked where the connection is
//! made, so that a name cannot change in between – and so are redirects to another host. It refuses to know what is fetched.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use common::api::error::ErrorCode;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Response, StatusCode};
use url::{Host, Url};

use super::auth::{Auth, AuthError};

const CONNECT: Duration = Duration::from_secs(5);
/// One request, with its answer's body.
const REQUEST: Duration = Duration::from_secs(15);
const REDIRECTS: usize = 5;
/// Waits between the tries when nobody answers, or a gateway says that nobody does.
const BACKOFF: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(800)];

/// Which addresses may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// For addresses that callers write.
    PublicOnly,
    /// For registries that were registered: they may well be inside, but not where clouds keep a machine's secrets.
    NotLinkLocal,
    Any,
}

impl Reach {
    fn allows(self, address: IpAddr) -> bool {
        match self {
            Self::PublicOnly => is_public(address),
            Self::NotLinkLocal => !is_link_local(address),
            Self::Any => true,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Web {
    client: reqwest::Client,
    reach: Reach,
    auth: Option<Arc<Auth>>,
}

/// An answer of any status but a redirect.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

#[derive(Debug, thiserror::Error)]
pub enum WebError {
    #[error(
        "{host} is a private address ({address}); templates come from there only if its registry is registered (dm createregistry), or with --allow-private-registries; from a link-local address only with the latter"
    )]
    Private { host: String, address: IpAddr },
    #[error("{url} cannot be asked with the registry's credential: {source}")]
    Auth { url: String, source: AuthError },
    #[error("{url} redirects to another host, {to}; refer to the file where it is")]
    Elsewhere { url: String, to: String },
    #[error("{url} redirects more than {REDIRECTS} times, or to nowhere")]
    Redirects { url: String },
    #[error("{url} is larger than {limit} bytes")]
    TooLarge { url: String, limit: usize },
    #[error("{url} cannot be reached: {reason}")]
    Unreachable { url: String, reason: String },
    #[error("{url} did not answer within {} s", REQUEST.as_secs())]
    TimedOut { url: String },
    #[error("{url} answered {status}")]
    Status { url: String, status: StatusCode },
    #[error("the HTTP client cannot be set up: {reason}")]
    Client { reason: String },
}

impl WebError {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Private { .. }
            | Self::Elsewhere { .. }
            | Self::Redirects { .. }
            | Self::TooLarge { .. } => ErrorCode::InvalidConfiguration,
            Self::Unreachable { .. } | Self::TimedOut { .. } | Self::Status { .. } => {
                ErrorCode::RegistryUnavailable
            }
            Self::Auth { source, .. } => match source {
                AuthError::Web(error) => error.code(),
                AuthError::NoHeader | AuthError::KeyFile(_) | AuthError::NoToken { .. } => {
                    ErrorCode::RegistryUnavailable
                }
            },
            Self::Client { .. } => ErrorCode::Internal,
        }
    }
}

impl Web {
    pub fn new(reach: Reach) -> Result<Self, WebError> {
        let builder = common::client::http::builder()
            .connect_timeout(CONNECT)
            .timeout(REQUEST)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("deployment-manager/", env!("CARGO_PKG_VERSION")))
            .no_proxy();
        let builder = match reach {
            Reach::PublicOnly | Reach::NotLinkLocal => builder.dns_resolver(Arc::new(Guard(reach))),
            Reach::Any => builder,
        };
        let client = builder.build().map_err(|error| WebError::Client {
            reason: innermost(&error).to_string(),
        })?;
        Ok(Self {
            client,
            reach,
            auth: None,
        })
    }

    /// The same, with a registry's credential in every request. Redirects never leave the host that it is for.
    pub fn with_auth(&self, auth: Auth) -> Self {
        Self {
            auth: Some(Arc::new(auth)),
            ..self.clone()
        }
    }

    /// Follows redirects within the host. The body has at most `limit` bytes.
    pub async fn get(&self, url: &Url, accept: &str, limit: usize) -> Result<Answer, WebError> {
        let mut at = url.clone();
        for _ in 0..=REDIRECTS {
            let response = self.send(&at, accept).await?;
            if !response.status().is_redirection() {
                return read(response, &at, limit).await;
            }
            let to = target(&response, &at).ok_or_else(|| WebError::Redirects {
                url: url.to_string(),
            })?;
            if to.origin() != url.origin() {
                return Err(WebError::Elsewhere {
                    url: url.to_string(),
                    to: to.host_str().unwrap_or_default().to_owned(),
                });
            }
            at = to;
        }
        Err(WebError::Redirects {
            url: url.to_string(),
        })
    }

    /// Sends a form, follows nothing.
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
        let request = self.client.post(url.clone()).body(body);
        let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let response = request.send().await.map_err(|error| failed(url, &error))?;
        read(response, url, limit).await
    }

    async fn authorization(&self, url: &Url) -> Result<HeaderMap, WebError> {
        let mut headers = HeaderMap::new();
        if let Some(auth) = &self.auth {
            let refused = |source| WebError::Auth {
                url: url.to_string(),
                source,
            };
            // A service account fetches its token by this very client, and has no credential for that itself.
            let header = Box::pin(auth.header()).await.map_err(refused)?;
            headers.insert(AUTHORIZATION, header);
        }
        Ok(headers)
    }

    async fn send(&self, url: &Url, accept: &str) -> Result<Response, WebError> {
        self.check(url)?;
        let auth = self.authorization(url).await?;
        let request = || {
            let request = self.client.get(url.clone()).header(ACCEPT, accept);
            request.headers(auth.clone()).send()
        };
        for wait in BACKOFF {
            match request().await {
                Ok(response) if is_transient(response.status()) => {}
                Err(error) if error.is_connect() && private(&error).is_none() => {}
                outcome => return outcome.map_err(|error| failed(url, &error)),
            }
            tokio::time::sleep(wait).await;
        }
        request().await.map_err(|error| failed(url, &error))
    }

    /// The addresses of a URL's host, if all of them may be asked: for programs that make their own connections.
    pub async fn addresses(&self, url: &Url) -> Result<Vec<IpAddr>, WebError> {
        self.check(url)?;
        let unreachable = |reason: String| WebError::Unreachable {
            url: url.to_string(),
            reason,
        };
        let host = match url.host() {
            Some(Host::Ipv4(address)) => return Ok(vec![address.into()]),
            Some(Host::Ipv6(address)) => return Ok(vec![address.into()]),
            // A URL of a scheme that is not the web's keeps its host as it was written.
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

    /// Addresses written as such never come to the resolver.
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

fn is_transient(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT
    )
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
                url: url.to_string(),
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
    let url = url.to_string();
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

/// reqwest's own texts repeat the URL; the innermost cause says what happened.
fn innermost<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    chain(error).last().unwrap_or(error)
}

fn private(error: &reqwest::Error) -> Option<&PrivateAddress> {
    chain(error).find_map(|error| error.downcast_ref())
}

/// The system's resolver, without addresses that are out of reach.
struct Guard(Reach);

#[derive(Debug, thiserror::Error)]
#[error("{host} is a private address ({address})")]
struct PrivateAddress {
    host: String,
    address: IpAddr,
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = self.0;
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found: Vec<SocketAddr> =
                tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            match found.iter().find(|address| !reach.allows(address.ip())) {
                Some(refused) => Err(PrivateAddress {
                    host,
                    address: refused.ip(),
                }
                .into()),
                None => Ok(Box::new(found.into_iter()) as Addrs),
            }
        })
    }
}

/// Where clouds answer a machine's own questions: 169.254.0.0/16, fe80::/10, and AWS's fd00:ec2::/32.
fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(mapped) => mapped.is_link_local(),
            None => {
                let [a, b, ..] = address.segments();
                a & 0xffc0 == 0xfe80 || (a, b) == (0xfd00, 0xec2)
            }
        },
    }
}

/// Whether an address belongs to the public internet (IANA's special-purpose registries).
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast();
    // This network; carriers' shared addresses; protocol assignments; benchmarks; reserved, with broadcast.
    let reserved = a == 0
        || (a == 100 && b & 0xc0 == 64)
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && b & 0xfe == 18)
        || a >= 240;
    !special && !reserved
}

/// Only global unicast (2000::/3), without what carries an IPv4 address that is not public, or is for documents.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, ..] = address.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    if let Some(mapped) = address.to_ipv4_mapped() {
        return is_public_v4(mapped);
    }
    match (a, b) {
        (0x2001, 0xdb8) | (0x2001, 0) => false,
        (0x2002, _) => is_public_v4(v4(b, c)),
        _ => a & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_inside_of_networks_are_not_public() {
        for private in [
            "127.0.0.1",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "198.18.0.1",
            "255.255.255.255",
            "224.0.0.1",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "fec0::1",
            "ff02::1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "2002:a00:1::",
            "2001:db8::1",
            "2001::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
        for public in [
            "1.1.1.1",
            "140.82.121.6",
            "2606:4700::1111",
            "::ffff:1.1.1.1",
            "100.128.0.1",
            "172.32.0.1",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }

    #[test]
    fn a_registered_registry_may_be_inside_but_not_where_secrets_are_given_out() {
        for (address, allowed) in [
            ("10.0.0.1", true),
            ("127.0.0.1", true),
            ("fd12::1", true),
            ("1.1.1.1", true),
            ("169.254.169.254", false),
            ("::ffff:169.254.169.254", false),
            ("fe80::1", false),
            ("fd00:ec2::254", false),
        ] {
            let address = address.parse().unwrap();
            assert_eq!(Reach::NotLinkLocal.allows(address), allowed, "{address}");
        }
    }

    #[tokio::test]
    async fn private_addresses_are_refused_however_they_are_written() {
        let web = Web::new(Reach::PublicOnly).unwrap();
        for url in [
            "http://127.0.0.1:1/a.py",
            "http://[::1]:1/a.py",
            "http://localhost:1/a.py",
            "http://0x7f.1:1/a.py",
        ] {
            let error = web.get(&url.parse().unwrap(), "*/*", 10).await.unwrap_err();
            assert!(
                matches!(error, WebError::Private { .. }),
                "{url}: {error:?}"
            );
        }
    }
}
