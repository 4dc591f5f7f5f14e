//! How a client authenticates, and how it verifies the service. Files are read again when they change.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use rustls::client::ResolvesClientCert;
use rustls::client::danger::ServerCertVerifier;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

use super::http;
use crate::reload::Unusable;
use crate::service_token::ServiceTokens;
use crate::tls::pair::Pair;
use crate::tls::provider;
use crate::tls::trust::{Servers, roots};

/// Returns the token for `Authorization: Bearer` of each request. Tokens expire and are replaced.
#[async_trait]
pub trait Bearer: Send + Sync {
    /// Returns the reason if an expired token cannot be replaced.
    async fn token(&self) -> Result<Option<String>, String>;
}

#[async_trait]
impl Bearer for ServiceTokens {
    async fn token(&self) -> Result<Option<String>, String> {
        Ok(self.to_send())
    }
}

/// How a client authenticates. By default it sends nothing, and trusts the machine's authorities.
#[derive(Clone, Default)]
pub struct ClientAccess {
    tls: Option<ClientConfig>,
    pub(super) bearer: Option<Arc<dyn Bearer>>,
}

impl fmt::Debug for ClientAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientAccess").finish_non_exhaustive()
    }
}

/// The flags of a client that calls services over TLS or with a token.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ServiceFlags {
    /// PEM file with the authority that signed the certificates of https services [default: the machine's authorities].
    #[arg(long, env = "DM_SERVICE_CA", value_name = "FILE")]
    pub service_ca: Option<PathBuf>,
    /// PEM file with the client certificate for the services.
    #[arg(
        long,
        env = "DM_SERVICE_CERT",
        value_name = "FILE",
        requires = "service_key"
    )]
    pub service_cert: Option<PathBuf>,
    /// PEM file with the key of the client certificate.
    #[arg(
        long,
        env = "DM_SERVICE_KEY",
        value_name = "FILE",
        requires = "service_cert"
    )]
    pub service_key: Option<PathBuf>,
    /// File with the token for the services, in its first non-empty line; it is read again when it changes.
    #[arg(long, env = "DM_SERVICE_TOKEN_FILE", value_name = "FILE")]
    pub service_token_file: Option<PathBuf>,
}

/// Why the files of [`ServiceFlags`] cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    #[error(transparent)]
    File(#[from] Unusable),
    #[error("the authority is not usable: {0}")]
    Authority(String),
    #[error("TLS to the services cannot be set up: {0}")]
    Setup(#[from] rustls::Error),
}

impl ServiceFlags {
    pub fn access(&self) -> Result<ClientAccess, AccessError> {
        let tokens = self.service_token_file.as_deref().map(ServiceTokens::open);
        let bearer = tokens.transpose()?.map(|tokens| Arc::new(tokens) as _);
        let shown: Option<Arc<dyn ResolvesClientCert>> =
            match (&self.service_cert, &self.service_key) {
                (Some(certificate), Some(key)) => Some(Pair::open(certificate, key)?),
                _ => None,
            };
        let tls = match (&self.service_ca, shown) {
            (None, None) => None,
            (authorities, shown) => Some(tls(authorities.as_deref(), shown)?),
        };
        Ok(ClientAccess { tls, bearer })
    }
}

/// Trusts the authorities in a file, or the machine's, and sends a certificate to services that ask for one.
fn tls(
    authorities: Option<&Path>,
    shown: Option<Arc<dyn ResolvesClientCert>>,
) -> Result<ClientConfig, AccessError> {
    let servers: Arc<dyn ServerCertVerifier> = match authorities {
        Some(authorities) => Servers::open(authorities)?,
        None => Arc::new(Verifier::new(provider())?),
    };
    let trusting = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(servers);
    Ok(match shown {
        Some(shown) => trusting.with_client_cert_resolver(shown),
        None => trusting.with_no_client_auth(),
    })
}

impl ClientAccess {
    /// For a client that sends no requests. It trusts no service, so the machine needs no authorities.
    pub fn to_nobody() -> Result<Self, AccessError> {
        let tls = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        Ok(Self {
            tls: Some(tls),
            bearer: None,
        })
    }

    /// Trusts the authorities of a PEM text, or the machine's.
    ///
    /// # Errors
    /// The text has no certificate.
    pub fn trusting(authorities: Option<&str>) -> Result<Self, AccessError> {
        let Some(pem) = authorities else {
            return Ok(Self::default());
        };
        let roots = roots(pem.as_bytes()).map_err(AccessError::Authority)?;
        let tls = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self {
            tls: Some(tls),
            bearer: None,
        })
    }

    /// Sends a certificate to services that ask for one, and trusts the authorities in a file, or the machine's.
    pub fn showing(
        authorities: Option<&Path>,
        certificate: Arc<dyn ResolvesClientCert>,
    ) -> Result<Self, AccessError> {
        Ok(Self {
            tls: Some(tls(authorities, Some(certificate))?),
            bearer: None,
        })
    }

    /// A builder of clients with this TLS, also for services that are not this project's. They send no token.
    pub fn builder(&self) -> reqwest::ClientBuilder {
        match &self.tls {
            Some(tls) => http::builder().tls_backend_preconfigured(tls.clone()),
            None => http::builder(),
        }
    }

    /// The same, for calls by gRPC. They need HTTP/2, which a server with TLS must be asked for by name (ALPN).
    pub fn grpc_builder(&self) -> reqwest::ClientBuilder {
        let tls = self.tls.clone().map(|mut tls| {
            tls.alpn_protocols = vec![b"h2".to_vec()];
            tls
        });
        Self { tls, bearer: None }.builder().http2_prior_knowledge()
    }

    /// The same access with a different token.
    pub fn with_bearer(mut self, bearer: Arc<dyn Bearer>) -> Self {
        self.bearer = Some(bearer);
        self
    }
}
