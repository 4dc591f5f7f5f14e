//! The identity that dm proves to a manager, and when it may do so.
//!
//! ```text
//! --token-file, DM_TOKEN, dm login, --client-cert ─────► shown with every request
//! kubeconfig's current user ── only if the manager asks ─► the same      (static, from a file, or a plugin's)
//! ```
//! A token or certificate given for this manager is sent to it. Those of the kubeconfig are for a cluster, not for a manager:
//! the token is sent only if the manager answers 401 without it, and the certificate only if the manager also asks for one in
//! the handshake, which needs https. The certificate's key never leaves this process. A token crosses the network unencrypted
//! only with `--send-token-in-clear`.

mod error;
mod exec;
mod kubeconfig;
mod proof;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use common::api::error::ErrorCode;
use common::client::access::{Bearer, ClientAccess, ServiceFlags};
use common::client::{ClientError, ManagerClient};
use common::model::{Secret, limits};
use rustls::SignatureScheme;
use rustls::client::ResolvesClientCert;
use rustls::sign::CertifiedKey;

pub use error::IdentityError;
use kubeconfig::{Current, Proof};
use proof::{StaticToken, TokenFile};

use super::login::bearer::LoginBearer;

/// The token, for one manager. There is no flag for it: other users can read command lines.
const TOKEN: &str = "DM_TOKEN";

/// The identity of the user, and the authority that the manager must be signed by.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Identity")]
pub struct IdentityFlags {
    /// File with the token for the manager [default: DM_TOKEN, or the kubeconfig's current user].
    #[arg(long, global = true, env = "DM_TOKEN_FILE", value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// PEM file with the authority that signed the certificate of an https manager [default: the machine's authorities].
    #[arg(long, global = true, env = "DM_CA_FILE", value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// PEM file with the client certificate for the manager; needs --client-key [default: the kubeconfig's current user]
    #[arg(long, global = true, env = "DM_CLIENT_CERT", value_name = "FILE")]
    pub client_cert: Option<PathBuf>,
    /// PEM file with the key of the client certificate.
    #[arg(long, global = true, env = "DM_CLIENT_KEY", value_name = "FILE")]
    pub client_key: Option<PathBuf>,
    /// Send the token over plain http to other machines too; everybody on the network path can read it.
    #[arg(long, global = true, env = "DM_SEND_TOKEN_IN_CLEAR")]
    pub send_token_in_clear: bool,
}

/// What a manager asks for.
struct Wants {
    /// A token or another proof of identity.
    somebody: bool,
    /// A certificate, in the handshake.
    certificate: bool,
}

/// Presents no certificate, and records that the manager asked for one.
#[derive(Debug, Default)]
struct Noticing(AtomicBool);

impl ResolvesClientCert for Noticing {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.0.store(true, Ordering::Relaxed);
        None
    }

    fn has_certs(&self) -> bool {
        true
    }
}

impl IdentityFlags {
    /// What to send to the manager at `url`. Asks the manager first if only a kubeconfig could have it.
    pub async fn access(&self, url: &str) -> Result<ClientAccess, IdentityError> {
        let own = self.own()?;
        if let Some(bearer) = self.given(url)? {
            self.guard(url)?;
            return Ok(own.with_bearer(bearer));
        }
        let Some(files) = kubeconfig::files() else {
            return Ok(own);
        };
        if self.guard(url).is_err() {
            return Ok(own);
        }
        let wants = self.wants(url, &own).await?;
        if !wants.somebody {
            return Ok(own);
        }
        match kubeconfig::current(&files)? {
            Some(user) => self.for_user(user, url, &wants).await,
            None => Ok(own),
        }
    }

    /// The proof of the kubeconfig's user: the token, or else the certificate.
    async fn for_user(
        &self,
        user: Current,
        url: &str,
        wants: &Wants,
    ) -> Result<ClientAccess, IdentityError> {
        let name = user.name().to_owned();
        let Proof {
            token,
            certificate,
            renewal,
        } = user.proof().await?;
        let with_token = match token {
            Some(token) => Some(self.own()?.with_bearer(token)),
            None => None,
        };
        let Some(certificate) = certificate.filter(|_| wants.certificate) else {
            return with_token.ok_or_else(|| IdentityError::CertificateUnwanted {
                user: name,
                url: url.to_owned(),
                why: match is_https(url) {
                    true => "does not ask for (--client-ca of the manager)",
                    false => "cannot receive without https",
                },
            });
        };
        if let Some(access) = with_token
            && asked(url, &access).await? != Answer::Refused
        {
            return Ok(access);
        }
        let access = ClientAccess::showing(self.ca_file.as_deref(), certificate)?;
        Ok(match renewal {
            Some(renewal) => access.with_bearer(renewal),
            None => access,
        })
    }

    /// Over https the manager may ask for a certificate in the handshake, and close the connection without one.
    async fn wants(&self, url: &str, own: &ClientAccess) -> Result<Wants, IdentityError> {
        if !is_https(url) || self.client_cert.is_some() {
            let somebody = asked(url, own).await? == Answer::Refused;
            return Ok(Wants {
                somebody,
                certificate: false,
            });
        }
        let noticing = Arc::new(Noticing::default());
        let access = ClientAccess::showing(self.ca_file.as_deref(), noticing.clone())?;
        let answer = asked(url, &access).await?;
        let certificate = noticing.0.load(Ordering::Relaxed);
        let somebody = match answer {
            Answer::Given => false,
            Answer::Refused => true,
            Answer::Missing => certificate,
        };
        Ok(Wants {
            somebody,
            certificate,
        })
    }

    fn own(&self) -> Result<ClientAccess, IdentityError> {
        if self.client_cert.is_some() != self.client_key.is_some() {
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

    /// The token that the user gave for this manager, or that of dm login.
    #[expect(
        clippy::disallowed_methods,
        reason = "a token is not a flag: everybody sees the arguments of a process"
    )]
    fn given(&self, url: &str) -> Result<Option<Arc<dyn Bearer>>, IdentityError> {
        if let Some(file) = &self.token_file {
            return Ok(Some(Arc::new(TokenFile::open(file.clone())?)));
        }
        match std::env::var(TOKEN) {
            Ok(text) => {
                let token = token(&text).ok_or(IdentityError::Token)?;
                Ok(Some(Arc::new(StaticToken(token))))
            }
            Err(std::env::VarError::NotPresent) => {
                let login = LoginBearer::of(url)?;
                Ok(login.map(|bearer| Arc::new(bearer) as Arc<dyn Bearer>))
            }
            Err(std::env::VarError::NotUnicode(_)) => Err(IdentityError::Token),
        }
    }

    /// The access to a service that is no manager: with the token that was given, unless a password is sent.
    pub fn plain_access(
        &self,
        url: &str,
        sends_password: bool,
    ) -> Result<ClientAccess, IdentityError> {
        let own = self.own()?;
        let given = self.given(url)?.filter(|_| !sends_password);
        if sends_password || given.is_some() {
            self.guard(url)?;
        }
        Ok(match given {
            Some(bearer) => own.with_bearer(bearer),
            None => own,
        })
    }

    /// Refuses to send a token unencrypted to another machine.
    fn guard(&self, url: &str) -> Result<(), IdentityError> {
        if self.send_token_in_clear || is_private(url) {
            return Ok(());
        }
        Err(IdentityError::InClear {
            url: url.to_owned(),
        })
    }
}

/// How a manager answers the question who the caller is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// Not a refusal. If it is an error, the command itself receives it too.
    Given,
    Refused,
    /// No answer: the manager is unreachable, or closed the connection.
    Missing,
}

async fn asked(url: &str, access: &ClientAccess) -> Result<Answer, IdentityError> {
    let client = ManagerClient::with(url, access)?;
    let answer = tokio::time::timeout(PROBE, client.whoami()).await;
    Ok(match answer {
        Ok(Err(ClientError::Answered(body))) if body.code == ErrorCode::Unauthenticated => {
            Answer::Refused
        }
        Ok(Ok(_) | Err(ClientError::Answered(_))) => Answer::Given,
        Ok(Err(_)) | Err(_) => Answer::Missing,
    })
}

/// Of several URLs, each must be.
fn is_https(urls: &str) -> bool {
    urls.split(',').all(|url| is_one_https(url.trim()))
}

fn is_one_https(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"))
}

/// Whether the URL is https or names this machine. Of several, each must.
fn is_private(urls: &str) -> bool {
    urls.split(',').all(|url| is_one_private(url.trim()))
}

fn is_one_private(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else {
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
    is_one_https(url) || host.eq_ignore_ascii_case("localhost") || is_loopback
}

/// The text without surrounding blanks, if it can stand in a header.
fn token(text: &str) -> Option<Secret> {
    let text = text.trim();
    let is_token = (1..=limits::TOKEN_BYTES).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_graphic());
    is_token.then(|| Secret::new(text))
}

/// A request that the manager answers from memory.
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
            "https://dm.example.com,http://127.0.0.1:8080",
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
            "https://dm.example.com,http://dm.example.com",
            "https://dm.example.com,",
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
