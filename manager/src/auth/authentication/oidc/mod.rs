//! Tokens of an OpenID Connect issuer, verified with the keys that it publishes.
//!
//! ```text
//! token ── read (token) ──► its issuer is ours? ──► key (keys, from discovery) ──► signature ──► claims ──► identity
//! ```
//!
//! Names are made from claims like the API server does it (`--oidc-username-claim` and the others), so that a person
//! has the same name there and here.

mod discovery;
mod keys;
#[cfg(test)]
pub(super) mod tests;
mod token;

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use clap::Args;
use common::model::Identity;
use common::model::identity::Parts;
use jiff::Timestamp;
use serde_json::{Map, Value};

pub use self::discovery::{Issuer, IssuerError};
use self::token::Token;
use super::{AuthenticationError, Authenticator, ReservedNames};

/// The tolerated difference of clocks, in seconds.
const LEEWAY: f64 = 30.0;

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Authentication and authorization")]
pub struct OidcOptions {
    /// URL of the OpenID Connect issuer whose tokens are accepted.
    #[arg(
        long = "auth-oidc-issuer",
        env = "DM_AUTH_OIDC_ISSUER",
        value_name = "URL",
        requires = "auth-oidc-audience"
    )]
    pub issuer: Option<String>,
    /// Audience (client id) that tokens must be meant for; may be repeated.
    #[arg(
        id = "auth-oidc-audience",
        long = "auth-oidc-audience",
        env = "DM_AUTH_OIDC_AUDIENCE",
        value_name = "AUDIENCE",
        value_delimiter = ','
    )]
    pub audiences: Vec<String>,
    /// Claim that names the user [default: sub]
    #[arg(
        long = "auth-oidc-username-claim",
        env = "DM_AUTH_OIDC_USERNAME_CLAIM",
        value_name = "CLAIM"
    )]
    pub username_claim: Option<String>,
    /// Prefix of user names, or - for none [default: the issuer and #, or none if the claim is email]
    #[arg(
        long = "auth-oidc-username-prefix",
        env = "DM_AUTH_OIDC_USERNAME_PREFIX",
        value_name = "PREFIX",
        allow_hyphen_values = true
    )]
    pub username_prefix: Option<String>,
    /// Claim that names the user's groups [default: users have none]
    #[arg(
        long = "auth-oidc-groups-claim",
        env = "DM_AUTH_OIDC_GROUPS_CLAIM",
        value_name = "CLAIM"
    )]
    pub groups_claim: Option<String>,
    /// Prefix of group names.
    #[arg(
        long = "auth-oidc-groups-prefix",
        env = "DM_AUTH_OIDC_GROUPS_PREFIX",
        value_name = "PREFIX"
    )]
    pub groups_prefix: Option<String>,
    /// Client id of the page at the issuer [default: the first audience]
    #[arg(
        long = "auth-oidc-client-id",
        env = "DM_AUTH_OIDC_CLIENT_ID",
        value_name = "ID",
        requires = "public_url"
    )]
    pub client_id: Option<String>,
    /// File with the client secret of the page at the issuer [default: the page is a public client]
    #[arg(
        long = "auth-oidc-client-secret-file",
        env = "DM_AUTH_OIDC_CLIENT_SECRET_FILE",
        value_name = "FILE",
        requires = "public_url"
    )]
    pub client_secret_file: Option<PathBuf>,
    /// File with the certificate authority of the issuer, PEM [default: the machine's authorities]
    #[arg(long = "auth-oidc-ca", env = "DM_AUTH_OIDC_CA", value_name = "FILE")]
    pub ca: Option<PathBuf>,
}

impl OidcOptions {
    /// The secret of the page at the issuer, if it has one.
    pub fn client_secret(&self) -> Result<Option<String>, IssuerError> {
        let Some(path) = &self.client_secret_file else {
            return Ok(None);
        };
        let unusable = |reason: String| IssuerError::Secret {
            path: path.display().to_string(),
            reason,
        };
        let text = std::fs::read_to_string(path).map_err(|error| unusable(error.to_string()))?;
        match text.trim() {
            "" => Err(unusable("it is empty".to_owned())),
            secret => Ok(Some(secret.to_owned())),
        }
    }
}

pub struct OidcTokens {
    issuer: Arc<Issuer>,
    rules: Rules,
}

/// The required claims, and those that name the caller.
#[derive(Debug, Clone)]
struct Rules {
    issuer: String,
    audiences: Vec<String>,
    username_claim: String,
    username_prefix: String,
    groups_claim: Option<String>,
    groups_prefix: String,
    reserved: ReservedNames,
}

impl OidcTokens {
    /// None if no issuer is configured.
    pub fn open(
        options: &OidcOptions,
        reserved: &ReservedNames,
    ) -> Result<Option<Self>, IssuerError> {
        let Some(issuer) = &options.issuer else {
            return Ok(None);
        };
        let claim = options.username_claim.as_deref().unwrap_or("sub");
        let prefix = match options.username_prefix.as_deref() {
            Some("-") => String::new(),
            Some(prefix) => prefix.to_owned(),
            None if claim == "email" => String::new(),
            None => format!("{issuer}#"),
        };
        Ok(Some(Self {
            issuer: Arc::new(Issuer::new(issuer, options.ca.as_deref())?),
            rules: Rules {
                issuer: issuer.clone(),
                audiences: options.audiences.clone(),
                username_claim: claim.to_owned(),
                username_prefix: prefix,
                groups_claim: options.groups_claim.clone(),
                groups_prefix: options.groups_prefix.clone().unwrap_or_default(),
                reserved: reserved.clone(),
            },
        }))
    }
}

impl OidcTokens {
    pub fn issuer(&self) -> Arc<Issuer> {
        self.issuer.clone()
    }
}

/// A claim of a token, if it is a text. Nothing is verified.
pub fn claim_of(token: &str, name: &str) -> Option<String> {
    let token = Token::read(token).ok()?;
    token.claims.get(name)?.as_str().map(str::to_owned)
}

#[async_trait]
impl Authenticator for OidcTokens {
    async fn authenticate(&self, token: &str) -> Result<Identity, AuthenticationError> {
        let refused = AuthenticationError::Refused;
        let token = Token::read(token).map_err(|reason| refused(reason.to_owned()))?;
        // Checked before anything is fetched: tokens of other issuers must not cause requests.
        if token.claims.get("iss").and_then(Value::as_str) != Some(&self.rules.issuer) {
            return Err(refused("it is another issuer's".to_owned()));
        }
        let keys = self.issuer.keys(token.header.kid.as_deref()).await?;
        if !keys.verify(&token) {
            return Err(refused("no key of the issuer has signed it".to_owned()));
        }
        let identity = self.rules.identity(&token.claims, Timestamp::now());
        identity.map_err(refused)
    }
}

impl Rules {
    fn identity(&self, claims: &Map<String, Value>, now: Timestamp) -> Result<Identity, String> {
        self.check_audience(claims)?;
        check_times(claims, now)?;
        let parts = Parts {
            user: self.user(claims)?,
            groups: self.groups(claims)?,
            ..Parts::default()
        };
        self.reserved.identity(parts)
    }

    fn check_audience(&self, claims: &Map<String, Value>) -> Result<(), String> {
        let audiences: Vec<_> = texts(claims.get("aud")).ok_or("it has no audience")?;
        match audiences.iter().any(|one| self.audiences.contains(one)) {
            true => Ok(()),
            false => Err(format!("it is meant for {}", audiences.join(", "))),
        }
    }

    fn user(&self, claims: &Map<String, Value>) -> Result<String, String> {
        let claim = &self.username_claim;
        let name = claims.get(claim).and_then(Value::as_str);
        let name = name.filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| format!("it has no claim {claim}"))?;
        // Like the API server: an unverified address could be anybody's.
        if claim == "email"
            && claims
                .get("email_verified")
                .is_some_and(|verified| *verified != true)
        {
            return Err("its e-mail address is not verified".to_owned());
        }
        Ok(format!("{}{name}", self.username_prefix))
    }

    fn groups(&self, claims: &Map<String, Value>) -> Result<Vec<String>, String> {
        let Some(claim) = &self.groups_claim else {
            return Ok(Vec::new());
        };
        let Some(value) = claims.get(claim) else {
            return Ok(Vec::new());
        };
        let groups =
            texts(Some(value)).ok_or_else(|| format!("its claim {claim} contains no names"))?;
        let prefix = &self.groups_prefix;
        Ok(groups
            .into_iter()
            .map(|group| format!("{prefix}{group}"))
            .collect())
    }
}

/// A string, or a list of strings.
fn texts(value: Option<&Value>) -> Option<Vec<String>> {
    match value? {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Array(items) => items
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect(),
        _ => None,
    }
}

/// A token without an expiry is refused.
fn check_times(claims: &Map<String, Value>, now: Timestamp) -> Result<(), String> {
    let now = now.as_duration().as_secs_f64();
    let at = |claim: &str| match claims.get(claim) {
        None => Ok(None),
        Some(value) => value
            .as_f64()
            .map(Some)
            .ok_or_else(|| format!("its claim {claim} is not a time")),
    };
    let end = at("exp")?.ok_or("it never expires")?;
    if now >= end + LEEWAY {
        return Err("it has expired".to_owned());
    }
    match at("nbf")? {
        Some(begin) if now < begin - LEEWAY => Err("it is not valid yet".to_owned()),
        _ => Ok(()),
    }
}
