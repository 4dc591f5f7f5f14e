//! `dm login` and `dm logout`.

use std::path::PathBuf;

use clap::Args;
use common::model::Secret;
use jiff::Timestamp;
use serde::Serialize;

use super::bearer::with;
use super::issuer::Issuer;
use super::store::LoginFile;
use super::{LoginError, SavedLogin, browser, claims, device};
use crate::client::context::{self, ContextIssuer};
use crate::client::session::Session;
use crate::error::Failure;
use crate::terminal::text;

/// Sign in at an OpenID Connect issuer that the manager trusts: in a browser, or with a code on another device.
///
/// The tokens stay in a file that only you can read, and dm renews them. The manager needs --auth-oidc-issuer with the same
/// issuer, and --auth-oidc-audience with the client.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm login --issuer https://id.example.com --client-id dm
  dm login --device
  dm login --no-browser")]
pub struct Login {
    /// URL of the issuer [default: that of the context, or of the last login].
    #[arg(long, value_name = "URL", env = "DM_OIDC_ISSUER")]
    pub issuer: Option<String>,
    /// Name of dm at the issuer: a public client [default: that of the context, or of the last login].
    #[arg(long, value_name = "ID", env = "DM_OIDC_CLIENT_ID")]
    pub client_id: Option<String>,
    /// PEM file with the authority of the issuer's certificate [default: the machine's authorities].
    #[arg(long, value_name = "FILE")]
    pub issuer_ca: Option<PathBuf>,
    /// Scopes to ask for, with blanks between.
    #[arg(long, default_value = "openid profile email groups offline_access")]
    pub scope: String,
    /// Sign in on another device: print an address and a code.
    #[arg(long)]
    pub device: bool,
    /// Print the address, and open no browser.
    #[arg(long, conflicts_with = "device")]
    pub no_browser: bool,
}

/// Forget the tokens of dm login for the manager.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm logout")]
pub struct Logout {}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SignedIn {
    service: String,
    issuer: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<Timestamp>,
}

impl Login {
    pub async fn run(self, session: &mut Session<'_, '_>, service: String) -> Result<(), Failure> {
        let place = LoginFile::of(&service)?;
        let known = self.known(&service, &place)?;
        let issuer = Issuer::discover(&known.issuer, known.issuer_ca.as_deref()).await?;
        // Tokens name the issuer as it names itself.
        let known = SavedLogin {
            issuer: issuer.endpoints.issuer.clone(),
            ..known
        };
        let (client, scope) = (known.client_id.clone(), self.scope.as_str());
        let terminal = &mut *session.terminal;
        let (tokens, nonce) = match self.device {
            true => (
                device::tokens(&issuer, &client, scope, terminal).await?,
                None,
            ),
            false => {
                let opens = !self.no_browser;
                let done = browser::tokens(&issuer, &client, scope, opens, terminal);
                let (tokens, nonce) = done.await?;
                (tokens, Some(nonce))
            }
        };
        let saved = with(known, tokens, nonce.as_deref())?;
        {
            let _lock = place.lock()?;
            place.write(&saved)?;
        }
        session.show(&signed_in(&saved), shown)
    }

    /// What the flags say, or the context, or the last login.
    fn known(&self, service: &str, place: &LoginFile) -> Result<SavedLogin, Failure> {
        let last = place.read().ok().flatten();
        let last = last.map(|last| ContextIssuer {
            url: last.issuer,
            client_id: last.client_id,
            ca_file: last.issuer_ca,
        });
        let found = context::issuer_of(service)?.or(last);
        let (url, client, ca) = match found {
            Some(found) => (Some(found.url), Some(found.client_id), found.ca_file),
            None => (None, None, None),
        };
        let issuer = self.issuer.clone().or(url).ok_or(LoginError::Unknown)?;
        let client_id = self
            .client_id
            .clone()
            .or(client)
            .ok_or(LoginError::Unknown)?;
        let absolute = |file: PathBuf| std::path::absolute(&file).unwrap_or(file);
        Ok(SavedLogin {
            service: service.to_owned(),
            issuer,
            client_id,
            issuer_ca: self.issuer_ca.clone().map(absolute).or(ca),
            token: Secret::new(""),
            expires: None,
            refresh_token: None,
        })
    }
}

fn signed_in(saved: &SavedLogin) -> SignedIn {
    SignedIn {
        service: saved.service.clone(),
        issuer: saved.issuer.clone(),
        user: claims::user(saved.token.reveal()),
        expires: saved
            .expires
            .and_then(|end| Timestamp::from_second(end).ok()),
    }
}

fn shown(done: &SignedIn) -> String {
    let user = done.user.as_deref().unwrap_or("somebody without a name");
    format!(
        "signed in at {} as {}; dm whoami says who that is for the manager\n",
        text::line(&done.service),
        text::line(user)
    )
}

impl Logout {
    pub fn run(self, session: &mut Session<'_, '_>, service: &str) -> Result<(), Failure> {
        let place = LoginFile::of(service)?;
        let was = {
            let _lock = place.lock()?;
            place.remove()?
        };
        let shown = text::line(service);
        session.print(&match was {
            true => format!("signed out at {shown}\n"),
            false => format!("nobody was signed in at {shown}\n"),
        })
    }
}
