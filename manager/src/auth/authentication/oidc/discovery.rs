//! Fetches an issuer's keys. Its discovery document says where they are (OpenID Connect Discovery 1.0).
//!
//! Keys are fetched again after [`FRESH`], so that a withdrawn key is not used any more. A token with an unknown key
//! causes a fetch, but at most every [`PAUSE`], because anybody can invent key names. While the issuer is unavailable,
//! the known keys are used for [`STALE`].

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use common::client::http;
use reqwest::{Certificate, Client, RequestBuilder, redirect};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::sync::Mutex;
use url::{Host, Url};

use super::keys::{Document, Keys};
use crate::auth::authentication::AuthenticationError;

const FRESH: Duration = Duration::from_secs(60 * 60);
const STALE: Duration = Duration::from_secs(24 * 60 * 60);
const PAUSE: Duration = Duration::from_secs(10);
/// The timeout for each of the two documents.
const PATIENCE: Duration = Duration::from_secs(10);
/// The maximum size of a document. Keys have a few hundred bytes each.
const DOCUMENT_BYTES: usize = 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum IssuerError {
    #[error("--auth-oidc-issuer {url:?} cannot be used: {reason}")]
    Url { url: String, reason: String },
    #[error("--auth-oidc-ca {path} cannot be used: {reason}")]
    Authority { path: String, reason: String },
    #[error("--auth-oidc-client-secret-file {path} cannot be used: {reason}")]
    Secret { path: String, reason: String },
}

pub struct Issuer {
    /// Exactly as the operator configured it: tokens must contain the same text.
    name: String,
    discovery: Url,
    client: Client,
    known: RwLock<Option<Known>>,
    /// The time of the last fetch. Locked during a fetch.
    tried: Mutex<Option<Instant>>,
    pub(super) pause: Duration,
}

#[derive(Clone)]
struct Known {
    keys: Arc<Keys>,
    fetched: Instant,
}

#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
}

/// Where people sign in, and where a code becomes a token.
pub struct Endpoints {
    pub authorization: Url,
    pub token: Url,
}

/// The part of a token answer that is used.
#[derive(Deserialize)]
struct Exchanged {
    id_token: String,
}

impl Issuer {
    pub fn new(name: &str, authority: Option<&Path>) -> Result<Self, IssuerError> {
        let unusable = |reason: String| IssuerError::Url {
            url: name.to_owned(),
            reason,
        };
        let base = name.trim_end_matches('/');
        let discovery = format!("{base}/.well-known/openid-configuration");
        let discovery = Url::parse(&discovery).map_err(|error| unusable(error.to_string()))?;
        check(&discovery).map_err(unusable)?;
        let mut client = http::builder()
            .redirect(redirect::Policy::none())
            .timeout(PATIENCE);
        if let Some(path) = authority {
            client = client.tls_certs_only(certificates(path)?);
        }
        let client = client
            .build()
            .map_err(|error| unusable(error.to_string()))?;
        Ok(Self {
            name: name.to_owned(),
            discovery,
            client,
            known: RwLock::default(),
            tried: Mutex::default(),
            pause: PAUSE,
        })
    }

    /// The keys, including the named one if the issuer has it.
    pub async fn keys(&self, kid: Option<&str>) -> Result<Arc<Keys>, AuthenticationError> {
        if let Some(keys) = self.fitting(kid) {
            return Ok(keys);
        }
        let mut tried = self.tried.lock().await;
        // Another request may have fetched them meanwhile.
        if let Some(keys) = self.fitting(kid) {
            return Ok(keys);
        }
        if tried.is_none_or(|tried| tried.elapsed() >= self.pause) {
            *tried = Some(Instant::now());
            match self.fetch().await {
                Ok(keys) => self.know(keys),
                Err(reason) => {
                    let issuer = &self.name;
                    tracing::warn!(
                        issuer,
                        reason,
                        "the keys of {issuer} cannot be fetched: {reason}"
                    );
                }
            }
        }
        let known = self.known().filter(|known| known.fetched.elapsed() < STALE);
        known.map(|known| known.keys).ok_or_else(|| {
            let reason = format!(
                "the keys of {} are not known yet; the log has why",
                self.name
            );
            AuthenticationError::Unavailable(reason)
        })
    }

    fn fitting(&self, kid: Option<&str>) -> Option<Arc<Keys>> {
        let known = self.known()?;
        let fits = known.fetched.elapsed() < FRESH && kid.is_none_or(|kid| known.keys.has(kid));
        fits.then_some(known.keys)
    }

    fn known(&self) -> Option<Known> {
        let known = self.known.read();
        known.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn know(&self, keys: Keys) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        *known = Some(Known {
            keys: Arc::new(keys),
            fetched: Instant::now(),
        });
    }

    /// For people who sign in. Asked for at each sign-in: there are few of them.
    pub async fn endpoints(&self) -> Result<Endpoints, String> {
        let discovery = self.discover().await?;
        let parsed = |endpoint: Option<String>, name: &str| {
            let text = endpoint.ok_or_else(|| format!("it has no {name}"))?;
            let url = Url::parse(&text).map_err(|error| error.to_string())?;
            check(&url)?;
            Ok::<_, String>(url)
        };
        Ok(Endpoints {
            authorization: parsed(discovery.authorization_endpoint, "authorization_endpoint")?,
            token: parsed(discovery.token_endpoint, "token_endpoint")?,
        })
    }

    /// The ID token for a code.
    pub async fn exchange(&self, url: Url, form: &[(&str, &str)]) -> Result<String, String> {
        let body = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(form)
            .finish();
        let request = self
            .client
            .post(url)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body);
        let answer: Exchanged = read(request).await?;
        Ok(answer.id_token)
    }

    async fn discover(&self) -> Result<Discovery, String> {
        let discovery: Discovery = self.get(self.discovery.clone()).await?;
        match discovery.issuer == self.name {
            true => Ok(discovery),
            false => Err(format!("it says that it is {:?}", discovery.issuer)),
        }
    }

    async fn fetch(&self) -> Result<Keys, String> {
        let discovery = self.discover().await?;
        let place = Url::parse(&discovery.jwks_uri).map_err(|error| error.to_string())?;
        check(&place)?;
        let document: Document = self.get(place).await?;
        Ok(Keys::new(document))
    }

    async fn get<T: DeserializeOwned>(&self, url: Url) -> Result<T, String> {
        read(self.client.get(url)).await
    }
}

/// A bounded JSON answer.
async fn read<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, String> {
    let response = request.send().await;
    let mut response = response.map_err(|error| common::server::answer::error::chain(&error))?;
    let url = response.url().clone();
    if !response.status().is_success() {
        return Err(format!("{url} answers {}", response.status()));
    }
    let mut bytes = Vec::new();
    while let Some(part) = response.chunk().await.map_err(|error| error.to_string())? {
        bytes.extend_from_slice(&part);
        if bytes.len() > DOCUMENT_BYTES {
            return Err(format!("{url} answers more than 1 MiB"));
        }
    }
    serde_json::from_slice(&bytes).map_err(|error| format!("{url} is not understood: {error}"))
}

/// Without TLS anybody on the way could replace the keys, so plain HTTP is only for this machine.
fn check(url: &Url) -> Result<(), String> {
    let loopback = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    match url.scheme() {
        "https" => Ok(()),
        "http" if loopback => Ok(()),
        _ => Err(format!("{url} is not https")),
    }
}

fn certificates(path: &Path) -> Result<Vec<Certificate>, IssuerError> {
    let unusable = |reason: String| IssuerError::Authority {
        path: path.display().to_string(),
        reason,
    };
    let pem = std::fs::read(path).map_err(|error| unusable(error.to_string()))?;
    let found = Certificate::from_pem_bundle(&pem).map_err(|error| unusable(error.to_string()))?;
    match found.is_empty() {
        true => Err(unusable("it contains no certificate".to_owned())),
        false => Ok(found),
    }
}
