//! The credentials of requests to registries.
//!
//! A credential becomes an `Authorization` header here and nowhere else. The header is marked as sensitive, so that no
//! log of a library shows it. A Google service account is exchanged for a token (RFC 7523), which is kept until shortly
//! before it ends.

use std::fmt;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use common::address::loggable;
use common::model::{Credential, Secret};
use reqwest::header::HeaderValue;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Mutex;
use url::Url;

use crate::transport::{Reach, Web, WebError};

/// The scope for Google's registries.
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
const GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// GitHub's user name for a token. Other hosts accept any name.
const GIT_USER: &str = "x-access-token";
/// Google's user name for a token.
const TOKEN_USER: &str = "oauth2accesstoken";
const ASSERTION_SECONDS: i64 = 3600;
/// A token is not used in its last minute: it must still be valid when the request arrives.
const SPARE: Duration = Duration::from_secs(60);
const TOKEN_BYTES: usize = 64 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    #[error("the credential contains a character that a header cannot carry")]
    NoHeader,
    #[error("the service account's key file is not valid: {0}")]
    KeyFile(String),
    #[error("{url} returned no token for the service account: {reason}")]
    NoToken { url: String, reason: String },
    #[error(transparent)]
    Web(Box<WebError>),
}

pub enum Auth {
    Fixed(HeaderValue),
    ServiceAccount(Box<ServiceAccount>),
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl Auth {
    /// Rejects a credential that can never be sent. `web` fetches the tokens of a service account.
    pub fn new(credential: &Credential, web: &Web) -> Result<Self, AuthError> {
        Ok(match credential {
            Credential::Token(token) => Self::Fixed(header("Bearer", token.reveal())?),
            Credential::Basic { username, password } => Self::Fixed(basic(username, password)?),
            Credential::ServiceAccount(key) => {
                Self::ServiceAccount(Box::new(ServiceAccount::new(key, web.clone())?))
            }
        })
    }

    /// [`Self::new`] for git, where a token is a password with any user name.
    pub fn for_git(credential: &Credential, web: &Web) -> Result<Self, AuthError> {
        match credential {
            Credential::Token(token) => {
                let trimmed = Secret::new(token.reveal().trim());
                Ok(Self::Fixed(basic(GIT_USER, &trimmed)?))
            }
            credential => Self::new(credential, web),
        }
    }

    /// As a password, for the token servers of OCI registries.
    pub fn for_oci(credential: &Credential, web: &Web) -> Result<Self, AuthError> {
        match credential {
            Credential::ServiceAccount(key) => {
                let account = ServiceAccount::new(key, web.clone())?;
                Ok(Self::ServiceAccount(Box::new(account.into_password())))
            }
            credential => Self::for_git(credential, web),
        }
    }

    pub async fn header(&self) -> Result<HeaderValue, AuthError> {
        match self {
            Self::Fixed(header) => Ok(header.clone()),
            Self::ServiceAccount(account) => account.header().await,
        }
    }
}

/// Rejects a credential that can never be sent.
pub fn check(credential: &Credential) -> Result<(), AuthError> {
    let web = Web::new(Reach::PublicOnly).map_err(|error| AuthError::Web(Box::new(error)))?;
    Auth::new(credential, &web).map(|_| ())
}

pub fn basic(username: &str, password: &Secret) -> Result<HeaderValue, AuthError> {
    let pair = format!("{username}:{}", password.reveal());
    header("Basic", &STANDARD.encode(pair))
}

fn header(scheme: &str, value: &str) -> Result<HeaderValue, AuthError> {
    let header = HeaderValue::from_str(&format!("{scheme} {}", value.trim()));
    let mut header = header.map_err(|_| AuthError::NoHeader)?;
    header.set_sensitive(true);
    Ok(header)
}

pub struct ServiceAccount {
    web: Web,
    email: String,
    token_url: Url,
    key: RsaKeyPair,
    as_password: bool,
    token: Mutex<Option<(HeaderValue, Instant)>>,
}

/// The needed part of Google's key file.
#[derive(Deserialize)]
struct KeyFile {
    client_email: String,
    private_key: String,
    token_uri: String,
}

#[derive(Deserialize)]
struct Token {
    access_token: String,
    expires_in: u64,
}

impl ServiceAccount {
    fn new(text: &Secret, web: Web) -> Result<Self, AuthError> {
        // The parser's own message could quote the file.
        let fault = |reason: &str| AuthError::KeyFile(reason.to_owned());
        let file: KeyFile = serde_json::from_str(text.reveal())
            .map_err(|_| fault("it must be JSON with client_email, private_key and token_uri"))?;
        let pem: String = file
            .private_key
            .lines()
            .filter(|line| !line.starts_with("-----"))
            .collect();
        let der = STANDARD.decode(pem.trim());
        let key = der.ok().and_then(|der| RsaKeyPair::from_pkcs8(&der).ok());
        let token_url =
            Url::parse(&file.token_uri).map_err(|_| fault("its token_uri is not a URL"))?;
        Ok(Self {
            web,
            email: file.client_email,
            token_url,
            key: key.ok_or_else(|| fault("its private_key is not a RSA key in PKCS#8"))?,
            as_password: false,
            token: Mutex::new(None),
        })
    }

    fn into_password(self) -> Self {
        Self {
            as_password: true,
            ..self
        }
    }

    fn spelled(&self, token: &str) -> Result<HeaderValue, AuthError> {
        match self.as_password {
            true => basic(TOKEN_USER, &Secret::new(token)),
            false => header("Bearer", token),
        }
    }

    async fn header(&self) -> Result<HeaderValue, AuthError> {
        let mut token = self.token.lock().await;
        if let Some((header, end)) = &*token
            && Instant::now() < *end
        {
            return Ok(header.clone());
        }
        let fresh = self.exchange().await?;
        let lives = Duration::from_secs(fresh.expires_in).saturating_sub(SPARE);
        let fresh_header = self.spelled(&fresh.access_token)?;
        *token = Some((fresh_header.clone(), Instant::now() + lives));
        Ok(fresh_header)
    }

    async fn exchange(&self) -> Result<Token, AuthError> {
        let refused = |reason: String| AuthError::NoToken {
            url: loggable(&self.token_url),
            reason,
        };
        let assertion = self
            .assertion(jiff::Timestamp::now().as_second())
            .ok_or_else(|| refused("its assertion cannot be signed".to_owned()))?;
        let form = [("grant_type", GRANT), ("assertion", &assertion)];
        let sent = self.web.post_form(&self.token_url, &form, TOKEN_BYTES);
        let answer = sent
            .await
            .map_err(|error| AuthError::Web(Box::new(error)))?;
        if !answer.status.is_success() {
            return Err(refused(format!("it answered {}", answer.status)));
        }
        serde_json::from_slice(&answer.body)
            .map_err(|_| refused("its answer holds no access_token".to_owned()))
    }

    /// A JWT (RFC 7519), signed with RS256.
    fn assertion(&self, now: i64) -> Option<String> {
        let claims = json!({
            "iss": self.email,
            "scope": SCOPE,
            "aud": self.token_url.as_str(),
            "iat": now,
            "exp": now + ASSERTION_SECONDS,
        });
        let part = |value: &serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let head = part(&json!({"alg": "RS256", "typ": "JWT"}));
        let signed = format!("{head}.{}", part(&claims));
        let mut signature = vec![0; self.key.public().modulus_len()];
        self.key
            .sign(
                &RSA_PKCS1_SHA256,
                &SystemRandom::new(),
                signed.as_bytes(),
                &mut signature,
            )
            .ok()?;
        Some(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auth(credential: &Credential) -> Result<Auth, AuthError> {
        Auth::new(credential, &Web::new(Reach::PublicOnly).unwrap())
    }

    #[tokio::test]
    async fn a_credential_becomes_a_header_that_is_not_shown() {
        let basic = Credential::Basic {
            username: "user".to_owned(),
            password: Secret::new("pass"),
        };
        for (credential, expected) in [
            (Credential::Token(Secret::new("t0ken\n")), "Bearer t0ken"),
            (basic, "Basic dXNlcjpwYXNz"),
        ] {
            let auth = auth(&credential).unwrap();
            let header = auth.header().await.unwrap();
            assert_eq!(header.to_str().unwrap(), expected);
            assert!(header.is_sensitive());
            assert_eq!(format!("{auth:?} {header:?}"), "*** Sensitive");
        }
    }

    #[test]
    fn what_cannot_be_sent_is_refused_without_being_quoted() {
        for bad in [
            Credential::Token(Secret::new("s3cret\nx: y")),
            Credential::ServiceAccount(Secret::new("s3cret")),
            Credential::ServiceAccount(Secret::new(
                r#"{"client_email":"e","private_key":"s3cret","token_uri":"https://host/t"}"#,
            )),
        ] {
            let error = auth(&bad).unwrap_err().to_string();
            assert!(!error.contains("s3cret"), "{error}");
        }
    }
}
