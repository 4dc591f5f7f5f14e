//! As whom dm asks, and where it may say so.
//!
//! ```text
//! --token-file, DM_TOKEN ──────────────────────────────► sent with every request
//! kubeconfig's current user ── only if the manager asks ─► the same      (static, from a file, or a plugin's)
//! ```
//! What was given for this manager is sent to it. The kubeconfig's token opens a cluster, not a manager: it is sent only to a
//! manager that answers 401 without it. Neither ever goes over the network in clear, unless that is asked for.

mod exec;
mod kubeconfig;

use std::path::PathBuf;
use std::sync::Arc;

use common::api::error::ErrorCode;
use common::client::access::{Access, AccessError, Bearer, ServiceFlags};
use common::client::{ClientError, ManagerClient};
use common::model::{Secret, limits};

pub use kubeconfig::KubeconfigError;

/// A token given in the environment, for one manager. There is no flag for it: command lines are public.
const TOKEN: &str = "DM_TOKEN";

/// Who dm is, and by what it knows the manager.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Identity")]
pub struct IdentityFlags {
    /// File with the token to show to the manager [default: DM_TOKEN, or the kubeconfig's current user].
    #[arg(long, global = true, env = "DM_TOKEN_FILE", value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// The authority, PEM, by which an https manager is known [default: the machine's authorities].
    #[arg(long, global = true, env = "DM_CA", value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// The certificate, PEM, to show to the manager; with --client-key and --ca-file.
    #[arg(long, global = true, env = "DM_CLIENT_CERT", value_name = "FILE")]
    pub client_cert: Option<PathBuf>,
    /// That certificate's key, PEM.
    #[arg(long, global = true, env = "DM_CLIENT_KEY", value_name = "FILE")]
    pub client_key: Option<PathBuf>,
    /// Send the token over plain http to other machines too, where everybody on the way can read it.
    #[arg(long, global = true, env = "DM_SEND_TOKEN_IN_CLEAR")]
    pub send_token_in_clear: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    #[error("{}: {reason}", file.display())]
    TokenFile { file: PathBuf, reason: String },
    #[error(
        "DM_TOKEN is not a token: it is empty, longer than {} bytes, or has blanks in it",
        limits::TOKEN_BYTES
    )]
    Token,
    #[error(
        "the token is not sent to {url}: it would go over the network in clear. Use https, or a tunnel to this machine (kubectl port-forward); --send-token-in-clear overrides it"
    )]
    InClear { url: String },
    #[error(
        "a client certificate goes with its key and with --ca-file: give all of --client-cert, --client-key and --ca-file"
    )]
    HalfACertificate,
    #[error(transparent)]
    Tls(#[from] AccessError),
    #[error("the manager wants to know who asks, and the kubeconfig does not tell: {0}")]
    Kubeconfig(#[from] KubeconfigError),
    #[error(transparent)]
    Client(#[from] ClientError),
}

struct Token(Secret);

impl Bearer for Token {
    fn token(&self) -> Option<String> {
        Some(self.0.reveal().to_owned())
    }
}

impl IdentityFlags {
    /// What to show to the manager at `url`. Asks it, if there is a kubeconfig that could tell more.
    pub async fn access(&self, url: &str) -> Result<Access, IdentityError> {
        let access = self.tls()?;
        if let Some(token) = self.given()? {
            self.guard(url)?;
            return Ok(access.with_bearer(Arc::new(Token(token))));
        }
        let Some(files) = kubeconfig::files() else {
            return Ok(access);
        };
        if self.guard(url).is_err() || !is_asked(url, &access).await? {
            return Ok(access);
        }
        Ok(match kubeconfig::token_of(&files).await? {
            Some(token) => access.with_bearer(Arc::new(Token(token))),
            None => access,
        })
    }

    fn tls(&self) -> Result<Access, IdentityError> {
        let whole = self.client_cert.is_some() == self.client_key.is_some();
        if !whole || (self.client_cert.is_some() && self.ca_file.is_none()) {
            return Err(IdentityError::HalfACertificate);
        }
        let flags = ServiceFlags {
            service_ca: self.ca_file.clone(),
            service_cert: self.client_cert.clone(),
            service_key: self.client_key.clone(),
            service_token_file: None,
        };
        Ok(flags.access()?)
    }

    /// The token that is meant for this manager.
    fn given(&self) -> Result<Option<Secret>, IdentityError> {
        if let Some(file) = &self.token_file {
            let failed = |reason: String| IdentityError::TokenFile {
                file: file.clone(),
                reason,
            };
            let text = std::fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
            let token = token(&text).ok_or_else(|| failed("there is no token in it".to_owned()))?;
            return Ok(Some(token));
        }
        match std::env::var(TOKEN) {
            Ok(text) => token(&text).map(Some).ok_or(IdentityError::Token),
            Err(std::env::VarError::NotPresent) => Ok(None),
            Err(std::env::VarError::NotUnicode(_)) => Err(IdentityError::Token),
        }
    }

    /// A token goes only where nobody listens on the way.
    fn guard(&self, url: &str) -> Result<(), IdentityError> {
        if self.send_token_in_clear || is_private(url) {
            return Ok(());
        }
        Err(IdentityError::InClear {
            url: url.to_owned(),
        })
    }
}

/// Whether the manager wants to know who asks. One that is away says so to the command itself.
async fn is_asked(url: &str, access: &Access) -> Result<bool, IdentityError> {
    let client = ManagerClient::with(url, access)?;
    let answer = tokio::time::timeout(PROBE, client.whoami()).await;
    Ok(matches!(
        answer,
        Ok(Err(ClientError::Answered(body))) if body.code == ErrorCode::Unauthenticated
    ))
}

/// https, or this very machine.
fn is_private(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else {
        return false;
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or_default(),
    };
    let is_loopback = host
        .parse()
        .is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
    scheme.eq_ignore_ascii_case("https") || host.eq_ignore_ascii_case("localhost") || is_loopback
}

/// The text without the blanks around it, if a header can carry it.
fn token(text: &str) -> Option<Secret> {
    let text = text.trim();
    let is_token = (1..=limits::TOKEN_BYTES).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_graphic());
    is_token.then(|| Secret::new(text))
}

/// The manager answers that from memory.
const PROBE: std::time::Duration = std::time::Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_to_this_machine_or_over_tls() {
        for url in [
            "https://dm.example.com",
            "http://127.0.0.1:8080",
            "http://localhost:80/x",
            "http://[::1]:8080",
        ] {
            assert!(is_private(url), "{url}");
        }
        for url in [
            "http://dm.example.com",
            "http://10.0.0.1:8080",
            "http://localhost.example.com",
            "http://127.0.0.1@example.com",
            "http://127.0.0.1.example.com",
            "dm.example.com",
        ] {
            assert!(!is_private(url), "{url}");
        }
    }

    #[test]
    fn a_token_is_one_word() {
        assert!(token(" abc\n").is_some());
        for text in ["", " ", "a b", "a\nb", "ü"] {
            assert!(token(text).is_none(), "{text:?}");
        }
    }
}
