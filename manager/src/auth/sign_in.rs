//! Signing in at the OpenID Connect issuer: the authorization code flow with PKCE (RFC 6749, RFC 7636), for the page.
//!
//! ```text
//! /ui/session/sign-in ──► issuer (state, nonce, challenge) ──► /ui/session/callback ──► issuer (code, verifier) ──► ID token
//! ```
//!
//! The state is bound to the browser by a short cookie, so nobody can sign somebody else in. The ID token is checked like every
//! token, and then for the nonce.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use common::model::limits::TOKEN_BYTES;
use url::Url;

use super::authentication::{Issuer, claim_of};
use super::sessions::{SessionError, digest, random};

/// Where the issuer sends the browser back to.
pub const CALLBACK: &str = "/ui/session/callback";
/// How long a person may take at the issuer.
pub const PATIENCE: Duration = Duration::from_secs(10 * 60);
/// Of people who sign in at the same time.
const PENDING: usize = 1_000;

#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("too many people are signing in at the same time: try again later")]
    TooMany,
    #[error("the issuer cannot be used now: {0}")]
    Issuer(String),
    #[error("the answer does not belong to a sign-in that began in this browser: sign in again")]
    Foreign,
    #[error("the issuer's answer has no token that fits: {0}")]
    Token(&'static str),
}

pub struct SignIn {
    pub issuer: Arc<Issuer>,
    pub client_id: String,
    pub client_secret: Option<String>,
    /// The address of the manager for browsers, never taken from a request.
    pub public_url: Url,
    pub pending: Mutex<HashMap<[u8; 32], Pending>>,
}

/// A sign-in that waits for the issuer's answer.
pub struct Pending {
    verifier: String,
    nonce: String,
    return_to: String,
    began: Instant,
}

/// The browser's next address, and what its cookie has to hold meanwhile.
pub struct Begun {
    pub location: String,
    pub state: String,
}

/// An ID token, and where the person wanted to go.
pub struct SignedIn {
    pub token: String,
    pub return_to: String,
}

impl SignIn {
    pub async fn begin(&self, return_to: &str) -> Result<Begun, SignInError> {
        let endpoints = self.issuer.endpoints().await.map_err(SignInError::Issuer)?;
        let (state, nonce, verifier) = (random()?, random()?, random()?);
        let mut location = endpoints.authorization;
        location.query_pairs_mut().extend_pairs([
            ("response_type", "code"),
            ("scope", "openid profile email groups"),
            ("client_id", &self.client_id),
            ("redirect_uri", &self.redirect_uri()),
            ("state", &state),
            ("nonce", &nonce),
            ("code_challenge", &URL_SAFE_NO_PAD.encode(digest(&verifier))),
            ("code_challenge_method", "S256"),
        ]);
        let mut pending = self.pending();
        pending.retain(|_, one| one.began.elapsed() < PATIENCE);
        if pending.len() >= PENDING {
            return Err(SignInError::TooMany);
        }
        let one = Pending {
            verifier,
            nonce,
            return_to: below_page(return_to),
            began: Instant::now(),
        };
        pending.insert(digest(&state), one);
        Ok(Begun {
            location: location.into(),
            state,
        })
    }

    /// `kept` is what the cookie of the browser has.
    pub async fn finish(
        &self,
        code: &str,
        state: &str,
        kept: Option<&str>,
    ) -> Result<SignedIn, SignInError> {
        if kept != Some(state) {
            return Err(SignInError::Foreign);
        }
        let begun = self.pending().remove(&digest(state));
        let begun = begun.filter(|one| one.began.elapsed() < PATIENCE);
        let begun = begun.ok_or(SignInError::Foreign)?;
        let endpoints = self.issuer.endpoints().await.map_err(SignInError::Issuer)?;
        let redirect = self.redirect_uri();
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &redirect),
            ("client_id", &self.client_id),
            ("code_verifier", &begun.verifier),
        ];
        if let Some(secret) = &self.client_secret {
            form.push(("client_secret", secret));
        }
        let token = self.issuer.exchange(endpoints.token, &form).await;
        let token = token.map_err(SignInError::Issuer)?;
        if token.len() > TOKEN_BYTES {
            return Err(SignInError::Token("it is too long"));
        }
        if claim_of(&token, "nonce").as_deref() != Some(begun.nonce.as_str()) {
            return Err(SignInError::Token("it was made for another sign-in"));
        }
        Ok(SignedIn {
            token,
            return_to: begun.return_to,
        })
    }

    fn redirect_uri(&self) -> String {
        let base = self.public_url.as_str().trim_end_matches('/');
        format!("{base}{CALLBACK}")
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<[u8; 32], Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A path of the page, or its start: never another site.
fn below_page(path: &str) -> String {
    let is_own = path.starts_with("/ui/")
        && !path.contains(['\\', '\r', '\n'])
        && !path.split(['/', '?']).any(|part| part == "..")
        && path.len() <= 2048;
    match is_own {
        true => path.to_owned(),
        false => "/ui/".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_return_to_the_page_and_to_no_other_site() {
        assert_eq!(
            below_page("/ui/deployments/a?at=$.x"),
            "/ui/deployments/a?at=$.x"
        );
        for bad in [
            "",
            "//evil.example",
            "https://evil.example/ui/",
            "/ui/../deployments",
            "/ui/\r\nSet-Cookie: a",
            "/ui\\evil",
        ] {
            assert_eq!(below_page(bad), "/ui/", "{bad}");
        }
    }
}
