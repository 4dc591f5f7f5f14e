//! The token of a login, with each request. It is renewed before it ends.

use async_trait::async_trait;
use common::client::access::Bearer;
use common::model::Secret;
use jiff::Timestamp;
use tokio::sync::Mutex;

use super::issuer::{Issuer, Tokens};
use super::store::LoginFile;
use super::{LoginError, SavedLogin, claims};

/// A token that ends this soon is renewed, so that it does not end during a request.
const MARGIN: i64 = 30;
const AGAIN: &str = "sign in again with dm login";

pub struct LoginBearer {
    place: LoginFile,
    held: Mutex<SavedLogin>,
}

impl LoginBearer {
    /// None if nobody is signed in at this manager.
    pub fn of(service: &str) -> Result<Option<Self>, LoginError> {
        let place = match LoginFile::of(service) {
            // Without a home nobody has signed in.
            Err(LoginError::NoHome) => return Ok(None),
            place => place?,
        };
        let saved = place.read()?;
        Ok(saved.map(|saved| Self {
            place,
            held: Mutex::new(saved),
        }))
    }
}

#[async_trait]
impl Bearer for LoginBearer {
    async fn token(&self) -> Result<Option<String>, String> {
        let mut held = self.held.lock().await;
        if is_ending(&held) {
            let renewed = renewed(&self.place).await;
            *held = renewed.map_err(|error| format!("{error}; {AGAIN}"))?;
        }
        Ok(Some(held.token.reveal().to_owned()))
    }
}

fn is_ending(login: &SavedLogin) -> bool {
    let soon = Timestamp::now().as_second() + MARGIN;
    login.expires.is_some_and(|end| end <= soon)
}

/// One process renews the token, and the others use what it has got: many issuers take a refresh token only once.
async fn renewed(place: &LoginFile) -> Result<SavedLogin, LoginError> {
    let waiting = place.clone();
    let lock = tokio::task::spawn_blocking(move || waiting.lock()).await;
    let _lock = lock.map_err(|_| LoginError::Token("its file cannot be locked"))??;
    let saved = place.read()?;
    let saved = saved.ok_or(LoginError::Token("somebody has signed out"))?;
    if !is_ending(&saved) {
        return Ok(saved);
    }
    let refresh = saved.refresh_token.as_ref();
    let refresh = refresh.ok_or(LoginError::Token(
        "it has ended, and the issuer gave no refresh token",
    ))?;
    let issuer = Issuer::discover(&saved.issuer, saved.issuer_ca.as_deref()).await?;
    let form = [
        ("grant_type", "refresh_token"),
        ("refresh_token", refresh.reveal()),
        ("client_id", &saved.client_id),
    ];
    let url = &issuer.endpoints.token_endpoint;
    let tokens: Tokens = match issuer.post(url, &form).await? {
        Ok(tokens) => tokens,
        Err(refusal) => return Err(refusal.into_error()),
    };
    let renewed = with(saved, tokens, None)?;
    place.write(&renewed)?;
    Ok(renewed)
}

/// The login with new tokens. An issuer that gives no new refresh token means the old one.
pub fn with(
    login: SavedLogin,
    tokens: Tokens,
    nonce: Option<&str>,
) -> Result<SavedLogin, LoginError> {
    let token = match (tokens.id_token, tokens.access_token) {
        (Some(token), _) => {
            claims::check(&token, &login.issuer, &login.client_id, nonce)?;
            token
        }
        (None, Some(_)) => {
            return Err(LoginError::Token(
                "the issuer gave no ID token; ask for one with the scope openid",
            ));
        }
        (None, None) => return Err(LoginError::Token("the issuer gave none")),
    };
    let lasts = tokens.expires_in;
    let end = lasts.map(|seconds| Timestamp::now().as_second().saturating_add(seconds));
    Ok(SavedLogin {
        expires: claims::end(&token).or(end),
        token: Secret::new(token),
        refresh_token: tokens
            .refresh_token
            .map(Secret::new)
            .or(login.refresh_token),
        ..login
    })
}
