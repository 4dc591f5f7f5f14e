//! The issuer: its endpoints, and requests to them (OpenID Connect Discovery 1.0, RFC 6749).

use std::path::Path;
use std::time::Duration;

use common::client::http;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::{Host, Url, form_urlencoded};

use super::LoginError;

/// The time of one request.
const REQUEST: Duration = Duration::from_secs(20);
/// An answer has some kilobytes.
const ANSWER_BYTES: usize = 256 * 1024;
const FORM: &str = "application/x-www-form-urlencoded";

#[derive(Debug)]
pub struct Issuer {
    http: reqwest::Client,
    pub endpoints: Endpoints,
}

/// The discovery document.
#[derive(Debug, Deserialize)]
pub struct Endpoints {
    pub issuer: String,
    pub authorization_endpoint: Option<String>,
    pub token_endpoint: String,
    pub device_authorization_endpoint: Option<String>,
}

/// The answer of the token endpoint.
#[derive(Debug, Deserialize)]
pub struct Tokens {
    pub id_token: Option<String>,
    pub access_token: Option<String>,
    pub refresh_token: Option<String>,
    pub expires_in: Option<i64>,
}

/// What the issuer says instead of an answer.
#[derive(Debug, Deserialize)]
pub struct Refusal {
    pub error: String,
    #[serde(default)]
    pub error_description: Option<String>,
}

impl Refusal {
    pub fn into_error(self) -> LoginError {
        let reason = match self.error_description {
            Some(text) => format!("{text} ({})", self.error),
            None => self.error,
        };
        let reason = reason.chars().take(500).collect();
        LoginError::Refused { reason }
    }
}

impl Issuer {
    /// Asks the issuer for its endpoints.
    pub async fn discover(url: &str, authority: Option<&Path>) -> Result<Self, LoginError> {
        let unusable = |reason: String| LoginError::Url {
            url: url.to_owned(),
            reason,
        };
        let place = format!(
            "{}/.well-known/openid-configuration",
            url.trim_end_matches('/')
        );
        let place = Url::parse(&place).map_err(|error| unusable(error.to_string()))?;
        check(&place).map_err(|reason| unusable(reason.to_owned()))?;
        let http = client(authority)?;
        let answer = http.get(place.clone()).send().await;
        let endpoints: Endpoints = match read(&place, answer).await? {
            Ok(endpoints) => endpoints,
            Err(refusal) => return Err(refusal.into_error()),
        };
        if endpoints.issuer.trim_end_matches('/') != url.trim_end_matches('/') {
            return Err(unusable(format!(
                "it calls itself {:?}: write it the same way",
                endpoints.issuer
            )));
        }
        Ok(Self { http, endpoints })
    }

    /// Sends a form to one of the endpoints.
    pub async fn post<T: DeserializeOwned>(
        &self,
        url: &str,
        form: &[(&str, &str)],
    ) -> Result<Result<T, Refusal>, LoginError> {
        let malformed = |reason: String| LoginError::Malformed {
            url: url.to_owned(),
            reason,
        };
        let place = Url::parse(url).map_err(|error| malformed(error.to_string()))?;
        check(&place).map_err(|reason| malformed(reason.to_owned()))?;
        let body = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(form)
            .finish();
        let request = self.http.post(place.clone());
        let request = request.header("content-type", FORM);
        let request = request.header("accept", "application/json");
        read(&place, request.body(body).send().await).await
    }
}

/// Tokens go over TLS, or stay on this machine.
fn check(url: &Url) -> Result<(), &'static str> {
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    match url.scheme() {
        "https" => Ok(()),
        "http" if is_loopback => Ok(()),
        _ => Err("it must begin with https://"),
    }
}

fn client(authority: Option<&Path>) -> Result<reqwest::Client, LoginError> {
    let mut builder = http::builder()
        .timeout(REQUEST)
        .redirect(reqwest::redirect::Policy::none());
    if let Some(file) = authority {
        let unusable = |reason: String| LoginError::File {
            file: file.to_owned(),
            reason,
        };
        let pem = std::fs::read(file).map_err(|error| unusable(error.to_string()))?;
        let found = reqwest::Certificate::from_pem_bundle(&pem);
        let found = found.map_err(|error| unusable(http::reason(&error)))?;
        builder = builder.tls_certs_only(found);
    }
    let client = builder.build();
    client.map_err(|error| LoginError::Unreachable {
        url: String::new(),
        reason: http::reason(&error),
    })
}

/// The answer, or the refusal of a status like 400.
async fn read<T: DeserializeOwned>(
    url: &Url,
    answer: reqwest::Result<reqwest::Response>,
) -> Result<Result<T, Refusal>, LoginError> {
    let unreachable = |error: reqwest::Error| LoginError::Unreachable {
        url: url.to_string(),
        reason: http::reason(&error),
    };
    let malformed = |reason: String| LoginError::Malformed {
        url: url.to_string(),
        reason,
    };
    let mut answer = answer.map_err(unreachable)?;
    let status = answer.status();
    let mut text = Vec::new();
    while let Some(part) = answer.chunk().await.map_err(unreachable)? {
        if text.len() + part.len() > ANSWER_BYTES {
            return Err(malformed(format!("it has over {ANSWER_BYTES} bytes")));
        }
        text.extend_from_slice(&part);
    }
    let value: Value = serde_json::from_slice(&text)
        .map_err(|_| malformed(format!("status {status} without a JSON document")))?;
    let understood = match status.is_success() {
        true => serde_json::from_value(value).map(Ok),
        false => serde_json::from_value(value).map(Err),
    };
    understood.map_err(|error| malformed(format!("status {status}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_go_over_tls_or_stay_on_this_machine() {
        for (url, is_fine) in [
            ("https://id.example.com", true),
            ("http://127.0.0.1:5556/dex", true),
            ("http://[::1]:5556", true),
            ("http://localhost", true),
            ("http://id.example.com", false),
            ("http://10.0.0.1", false),
            ("ftp://127.0.0.1", false),
        ] {
            assert_eq!(check(&Url::parse(url).unwrap()).is_ok(), is_fine, "{url}");
        }
    }
}
