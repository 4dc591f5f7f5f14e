//! Authentication: a token from the server that the registry names, or the login itself.

use std::collections::HashMap;
use std::sync::PoisonError;

use reqwest::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{Body, Method, Request, StatusCode};
use serde::Deserialize;

use super::redirect::keeps_tls;
use super::{Answer, Client, OciError, Outcome, PAGE_BYTES, Transport};
use crate::address::loggable;
use crate::registry::oci::challenge::Challenge;

/// How many repositories' tokens are kept. Beyond that, all are requested again.
const TOKENS: usize = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepositoryAction {
    Pull,
    Push,
}

#[derive(Deserialize)]
struct Token {
    token: Option<String>,
    access_token: Option<String>,
}

impl<T: Transport> Client<T> {
    /// Sends a request with the current token, or with a new one if the registry asks for it.
    pub(super) async fn authorized(
        &self,
        request: Request,
        repository: &str,
        access: RepositoryAction,
        limit: usize,
    ) -> Outcome<Answer, T::Error> {
        let held = format!("{access:?} {repository}");
        let token = self.tokens().get(&held).cloned();
        let answer = self.send(with(copied(&request), token), limit).await?;
        if answer.status != StatusCode::UNAUTHORIZED {
            return Ok(answer);
        }
        let challenges = answer.headers.get_all(WWW_AUTHENTICATE).into_iter();
        let challenge = challenges
            .filter_map(|value| Challenge::parse(value.to_str().ok()?))
            .next();
        let Some(token) = self.answer(challenge, repository, access).await? else {
            return Ok(answer);
        };
        self.keep(held, token.clone());
        self.send(with(request, Some(token)), limit).await
    }

    fn keep(&self, held: String, token: HeaderValue) {
        let mut tokens = self.tokens();
        if tokens.len() >= TOKENS {
            tokens.clear();
        }
        tokens.insert(held, token);
    }

    /// The answer to a challenge. `None` if there is no login for it.
    async fn answer(
        &self,
        challenge: Option<Challenge>,
        repository: &str,
        access: RepositoryAction,
    ) -> Outcome<Option<HeaderValue>, T::Error> {
        let login = self.transport.login().await.map_err(OciError::Transport)?;
        let (realm, service, scope) = match challenge {
            None => return Ok(None),
            Some(Challenge::Basic) => return Ok(login),
            Some(Challenge::Bearer {
                realm,
                service,
                scope,
            }) => (realm, service, scope),
        };
        if !keeps_tls(&self.base, &realm) {
            let url = loggable(&realm);
            return Err(OciError::Redirects { url });
        }
        let actions = match access {
            RepositoryAction::Pull => "pull",
            RepositoryAction::Push => "pull,push",
        };
        let scope = scope.unwrap_or_else(|| format!("repository:{repository}:{actions}"));
        let mut url = realm;
        url.query_pairs_mut()
            .extend_pairs(service.map(|service| ("service", service)))
            .append_pair("scope", &scope);
        let request = Request::new(Method::GET, url.clone());
        let answer = self.send(with(request, login), PAGE_BYTES).await?;
        if !answer.status.is_success() {
            return Err(self.refused(&answer).await);
        }
        // The parser's own message could quote the token.
        let given: Option<Token> = serde_json::from_slice(&answer.body).ok();
        let token = given.and_then(|given| given.token.or(given.access_token));
        let header = token.and_then(bearer);
        header.map(Some).ok_or_else(|| OciError::Malformed {
            url: loggable(&url),
            reason: "it holds no token".to_owned(),
        })
    }

    fn tokens(&self) -> std::sync::MutexGuard<'_, HashMap<String, HeaderValue>> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bodies are in memory, so a request can be sent twice.
pub fn copied(request: &Request) -> Request {
    let mut copy = Request::new(request.method().clone(), request.url().clone());
    *copy.headers_mut() = request.headers().clone();
    let body = request.body().and_then(Body::as_bytes);
    *copy.body_mut() = body.map(|bytes| bytes.to_vec().into());
    copy
}

fn with(mut request: Request, authorization: Option<HeaderValue>) -> Request {
    if let Some(header) = authorization {
        request.headers_mut().insert(AUTHORIZATION, header);
    }
    request
}

fn bearer(token: String) -> Option<HeaderValue> {
    let mut header = HeaderValue::from_str(&format!("Bearer {token}")).ok()?;
    header.set_sensitive(true);
    Some(header)
}
