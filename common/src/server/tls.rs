//! The flags for serving over TLS.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoClientAuth, NoServerSessionStorage};

use crate::reload::Unusable;
use crate::tls::pair::Pair;
use crate::tls::provider;
use crate::tls::trust::Clients;

/// How clients know the service, and the service its clients.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Tls {
    /// The service's certificate, PEM, with its chain: from now on it serves HTTPS only. Read again when it changes.
    #[arg(long, env = "DM_TLS_CERT", value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The certificate's key, PEM.
    #[arg(long, env = "DM_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// The authority, PEM, of clients that show a certificate. One that it did not sign is refused.
    #[arg(long, env = "DM_CLIENT_CA", value_name = "FILE", requires = "tls_cert")]
    pub client_ca: Option<PathBuf>,
    /// Revocation lists, PEM, of that authority: a certificate that one of them names is refused. Read again when it changes.
    #[arg(
        long,
        env = "DM_CLIENT_CRL",
        value_name = "FILE",
        requires = "client_ca"
    )]
    pub client_crl: Option<PathBuf>,
    /// Refuse connections without a client's certificate, those to /healthz too.
    #[arg(long, env = "DM_REQUIRE_CLIENT_CERT", requires = "client_ca")]
    pub require_client_cert: bool,
}

impl Tls {
    /// What to serve with; nothing, if it is plain HTTP.
    pub(super) fn config(&self) -> Result<Option<ServerConfig>, Error> {
        let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) else {
            return Ok(None);
        };
        let pair = Pair::open(certificate, key)?;
        let clients: Arc<dyn ClientCertVerifier> = match &self.client_ca {
            Some(authorities) => Clients::open(
                authorities,
                self.client_crl.as_deref(),
                self.require_client_cert,
            )?,
            None => Arc::new(NoClientAuth),
        };
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(clients)
            .with_cert_resolver(pair);
        // A resumed session would not be verified by the authorities as they are now.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Some(config))
    }
}

/// Why TLS cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    File(#[from] Unusable),
    #[error("TLS cannot be set up: {0}")]
    Setup(#[from] rustls::Error),
}
