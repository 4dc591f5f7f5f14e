//! The callers of expandybird and resourcifier: the manager only, by the service token or by its certificate.
//!
//! It refuses to know users: what they may do is decided in the manager.

pub(super) mod access;
pub(super) mod peer;

use std::path::PathBuf;

use actix_web::HttpRequest;
use actix_web::http::header::AUTHORIZATION;

use self::peer::Peer;
use super::answer::error::ApiError;
use super::serve::tls::Tls;
use crate::api::error::ErrorCode;
use crate::reload::Unusable;
use crate::service_token::ServiceTokens;

/// The flags of a service that only another service calls.
#[derive(Debug, Clone, clap::Args)]
pub struct CallerFlags {
    /// File with the accepted service tokens, one per line. The service reads the file again when it changes.
    #[arg(long, env = "DM_SERVICE_TOKEN_FILE", value_name = "FILE")]
    pub service_token_file: Option<PathBuf>,
    /// Name (CN, DNS name or URI) in an accepted client certificate that --client-ca signed; may be repeated.
    #[arg(
        long = "allowed-client",
        env = "DM_ALLOWED_CLIENT",
        value_name = "NAME",
        value_delimiter = ',',
        default_value = "manager"
    )]
    pub allowed_clients: Vec<String>,
}

/// How callers prove that they are the manager.
#[derive(Debug, Clone)]
pub struct Callers {
    tokens: Option<ServiceTokens>,
    /// Empty if certificates are not requested.
    clients: Vec<String>,
}

impl CallerFlags {
    /// `None` if no authentication is configured.
    pub(super) fn callers(&self, tls: &Tls) -> Result<Option<Callers>, Unusable> {
        let file = self.service_token_file.as_deref();
        let tokens = file.map(ServiceTokens::open).transpose()?;
        let clients = match tls.client_ca {
            Some(_) => self.allowed_clients.clone(),
            None => Vec::new(),
        };
        let any = tokens.is_some() || !clients.is_empty();
        Ok(any.then_some(Callers { tokens, clients }))
    }
}

impl Callers {
    /// Returns the refusal if the caller is not the manager.
    pub(super) fn admit(&self, request: &HttpRequest) -> Result<(), ApiError> {
        let peer = Peer::from_request(request);
        let certificate = peer.certificate.as_deref();
        if certificate.is_some_and(|shown| self.clients.iter().any(|name| shown.is(name))) {
            return Ok(());
        }
        let offered = bearer(request);
        if let (Some(tokens), Some(offered)) = (&self.tokens, offered)
            && tokens.accept(offered)
        {
            return Ok(());
        }
        Err(self.refusal(certificate.is_some(), offered.is_some()))
    }

    /// 401 for no token or a wrong one, 403 for a valid certificate of another client.
    fn refusal(&self, certificate: bool, token: bool) -> ApiError {
        if certificate && !token {
            return ApiError::new(
                ErrorCode::Forbidden,
                "only the manager may call this service: the certificate has a different name (--allowed-client lists the accepted ones)",
            );
        }
        let how = match (&self.tokens, self.clients.is_empty()) {
            (Some(_), true) => "the service token",
            (Some(_), false) => "the service token or the manager's certificate",
            (None, _) => "the manager's certificate",
        };
        let message = match token {
            true => format!(
                "the token is not a service token: only the manager may call this service, with {how}"
            ),
            false => format!("only the manager may call this service, with {how}"),
        };
        ApiError::new(ErrorCode::Unauthenticated, message)
    }
}

/// The token of `Authorization: Bearer TOKEN` (RFC 6750).
fn bearer(request: &HttpRequest) -> Option<&str> {
    let value = request.headers().get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| token.trim_start())
}
