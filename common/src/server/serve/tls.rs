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

/// The flags for the certificate of the service and for the certificates of clients.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Tls {
    /// PEM file with the service's certificate and its chain; the service then serves HTTPS only, and reads the file again when it changes.
    #[arg(long, env = "DM_TLS_CERT", value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// PEM file with the key of the certificate.
    #[arg(long, env = "DM_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// PEM file with the authority for client certificates; other client certificates are refused.
    #[arg(long, env = "DM_CLIENT_CA", value_name = "FILE", requires = "tls_cert")]
    pub client_ca: Option<PathBuf>,
    /// PEM file with revocation lists of that authority; revoked certificates are refused. The service reads the file again when it changes.
    #[arg(
        long,
        env = "DM_CLIENT_CRL",
        value_name = "FILE",
        requires = "client_ca"
    )]
    pub client_crl: Option<PathBuf>,
    /// Refuse connections without a client certificate, also for /healthz.
    #[arg(long, env = "DM_REQUIRE_CLIENT_CERT", requires = "client_ca")]
    pub require_client_cert: bool,
}

impl Tls {
    /// The TLS configuration; none for plain HTTP.
    pub(in crate::server) fn config(&self) -> Result<Option<ServerConfig>, Error> {
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

/// Why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    File(#[from] Unusable),
    #[error("TLS cannot be set up: {0}")]
    Setup(#[from] rustls::Error),
}
