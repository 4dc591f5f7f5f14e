//! What a client shows to be let in, and by what it knows the service: each is read again when its file changes.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::ClientConfig;

use crate::reload::Unusable;
use crate::service_token::ServiceTokens;
use crate::tls::pair::Pair;
use crate::tls::provider;
use crate::tls::trust::Servers;

/// Gives the token of `Authorization: Bearer`, anew for each request: tokens run out and are replaced.
pub trait Bearer: Send + Sync {
    fn token(&self) -> Option<String>;
}

impl Bearer for ServiceTokens {
    fn token(&self) -> Option<String> {
        self.to_send()
    }
}

/// How a client gets in. By default it shows nothing, and knows services by the machine's own authorities.
#[derive(Clone, Default)]
pub struct Access {
    pub(super) tls: Option<ClientConfig>,
    pub(super) bearer: Option<Arc<dyn Bearer>>,
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").finish_non_exhaustive()
    }
}

/// The flags of whoever calls a service over TLS, or shows a token.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ServiceFlags {
    /// The authority, PEM, by which the services are known, if their URLs are https [default: the machine's authorities].
    #[arg(long, env = "DM_SERVICE_CA", value_name = "FILE")]
    pub service_ca: Option<PathBuf>,
    /// The certificate, PEM, to show to the services.
    #[arg(long, env = "DM_SERVICE_CERT", value_name = "FILE", requires_all = ["service_key", "service_ca"])]
    pub service_cert: Option<PathBuf>,
    /// That certificate's key, PEM.
    #[arg(
        long,
        env = "DM_SERVICE_KEY",
        value_name = "FILE",
        requires = "service_cert"
    )]
    pub service_key: Option<PathBuf>,
    /// File with the token to show to the services: its first line that is not empty. Read again when it changes.
    #[arg(long, env = "DM_SERVICE_TOKEN_FILE", value_name = "FILE")]
    pub service_token_file: Option<PathBuf>,
}

/// Why the files of [`ServiceFlags`] cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    #[error(transparent)]
    File(#[from] Unusable),
    #[error("TLS to the services cannot be set up: {0}")]
    Setup(#[from] rustls::Error),
}

impl ServiceFlags {
    pub fn access(&self) -> Result<Access, AccessError> {
        let tokens = self.service_token_file.as_deref().map(ServiceTokens::open);
        let bearer = tokens.transpose()?.map(|tokens| Arc::new(tokens) as _);
        let tls = self.tls()?;
        Ok(Access { tls, bearer })
    }

    fn tls(&self) -> Result<Option<ClientConfig>, AccessError> {
        let Some(authorities) = &self.service_ca else {
            return Ok(None);
        };
        let trusting = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Servers::open(authorities)?);
        Ok(Some(match (&self.service_cert, &self.service_key) {
            (Some(certificate), Some(key)) => {
                trusting.with_client_cert_resolver(Pair::open(certificate, key)?)
            }
            _ => trusting.with_no_client_auth(),
        }))
    }
}

impl Access {
    /// The same with a token of one's own.
    pub fn with_bearer(mut self, bearer: Arc<dyn Bearer>) -> Self {
        self.bearer = Some(bearer);
        self
    }
}
