//! `GET` on behalf of a template reference, bounded in size, time and reach.
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
use reqwest::header::{ACCEPT, HeaderMap, LOCATION};
use reqwest::{Response, StatusCode};
use url::{Host, Url};

const CONNECT: Duration = Duration::from_secs(5);
/// One request, with its answer's body.
const REQUEST: Duration = Duration::from_secs(15);
const REDIRECTS: usize = 5;
/// Waits between the tries when nobody answers, or a gateway says that nobody does.
const BACKOFF: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(800)];

/// Which addresses may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    PublicOnly,
    Any,
}

#[derive(Debug, Clone)]
pub struct Web {
    client: reqwest::Client,
    reach: Reach,
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
        "{host} is a private address ({address}); only --allow-private-registries lets templates come from there"
    )]
    Private { host: String, address: IpAddr },
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
            Reach::PublicOnly => builder.dns_resolver(Arc::new(PublicOnly)),
            Reach::Any => builder,
        };
        let client = builder.build().map_err(|error| WebError::Client {
            reason: innermost(&error).to_string(),
        })?;
        Ok(Self { client, reach })
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

    async fn send(&self, url: &Url, accept: &str) -> Result<Response, WebError> {
        self.check(url)?;
        let request = || self.client.get(url.clone()).header(ACCEPT, accept).send();
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

    /// Addresses written as such never come to the resolver.
    fn check(&self, url: &Url) -> Result<(), WebError> {
        let address = match url.host() {
            Some(Host::Ipv4(address)) => IpAddr::V4(address),
            Some(Host::Ipv6(address)) => IpAddr::V6(address),
            Some(Host::Domain(_)) | None => return Ok(()),
        };
        if self.reach == Reach::Any || is_public(address) {
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

/// The system's resolver, without addresses that are not public.
struct PublicOnly;

#[derive(Debug, thiserror::Error)]
#[error("{host} is a private address ({address})")]
struct PrivateAddress {
    host: String,
    address: IpAddr,
}

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found: Vec<SocketAddr> =
                tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            match found.iter().find(|address| !is_public(address.ip())) {
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
