//! Requests of the command line to a registry that its user names. All addresses are allowed.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Request;
use reqwest::header::HeaderValue;

use super::client::{Answer, Transport};
use crate::address::loggable;
use crate::model::Secret;

const CONNECT: Duration = Duration::from_secs(5);
const REQUEST: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub struct Direct {
    client: reqwest::Client,
    login: Option<HeaderValue>,
}

#[derive(Debug, thiserror::Error)]
pub enum DirectError {
    #[error("the HTTP client cannot be set up: {0}")]
    Client(String),
    #[error("the user's name and password cannot be sent")]
    Login,
    #[error("{url} cannot be reached: {reason}")]
    Unreachable { url: String, reason: String },
    #[error("{url} is larger than {limit} bytes")]
    TooLarge { url: String, limit: usize },
}

impl Direct {
    /// `login` is an `Authorization: Basic …`.
    pub fn new(login: Option<HeaderValue>) -> Result<Self, DirectError> {
        let client = crate::client::http::builder()
            .connect_timeout(CONNECT)
            .timeout(REQUEST)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| DirectError::Client(innermost(&error)))?;
        Ok(Self { client, login })
    }

    /// A transport with a user name and password.
    pub fn with_login(login: Option<(&str, &Secret)>) -> Result<Self, DirectError> {
        Self::new(login.map(basic).transpose()?)
    }
}

fn basic((username, password): (&str, &Secret)) -> Result<HeaderValue, DirectError> {
    let packed = STANDARD.encode(format!("{username}:{}", password.reveal()));
    let header = HeaderValue::from_str(&format!("Basic {packed}"));
    let mut header = header.map_err(|_| DirectError::Login)?;
    header.set_sensitive(true);
    Ok(header)
}

impl Transport for Direct {
    type Error = DirectError;

    async fn send(&self, request: Request, limit: usize) -> Result<Answer, DirectError> {
        let url = request.url().clone();
        let unreachable = |error: reqwest::Error| DirectError::Unreachable {
            url: loggable(&url),
            reason: innermost(&error),
        };
        let mut response = self.client.execute(request).await.map_err(unreachable)?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if body.len() + chunk.len() > limit {
                let url = loggable(&url);
                return Err(DirectError::TooLarge { url, limit });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Answer {
            url: url.clone(),
            status: response.status(),
            headers: response.headers().clone(),
            body,
        })
    }

    async fn login(&self) -> Result<Option<HeaderValue>, DirectError> {
        Ok(self.login.clone())
    }
}

/// reqwest's own texts repeat the URL. The innermost cause says what happened.
fn innermost(error: &reqwest::Error) -> String {
    let start: &(dyn std::error::Error + 'static) = error;
    std::iter::successors(Some(start), |error| error.source())
        .last()
        .map_or_else(String::new, ToString::to_string)
}
