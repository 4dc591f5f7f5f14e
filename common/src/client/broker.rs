//! The client of a service broker: the Open Service Broker API, of any broker.
//!
//! A broker answers with statuses that have meanings of their own, so each answer is returned as it is.

use std::time::Duration;

pub use reqwest::Method;
use reqwest::header::RETRY_AFTER;
use serde_json::{Map, Value};

use super::access::ClientAccess;
use super::error::ClientError;
use super::http::Endpoint;
use crate::json::Limits;

/// The version of the API that this client speaks.
const VERSION: &str = "2.17";
/// A broker that works within the request may take this long.
const DEADLINE: Duration = Duration::from_secs(600);

/// A broker, and who calls it.
#[derive(Debug, Clone)]
pub struct BrokerClient {
    endpoint: Endpoint,
    login: Option<Login>,
}

/// A user's name and password.
#[derive(Clone)]
pub struct Login {
    pub user: String,
    pub password: String,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// What a broker answered.
#[derive(Debug, Clone, PartialEq)]
pub struct BrokerAnswer {
    pub status: u16,
    /// Empty if the answer is not a JSON object.
    pub body: Map<String, Value>,
    /// How long the broker wants to be left alone.
    pub retry_after: Option<Duration>,
}

impl BrokerAnswer {
    /// A text of the body.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.body.get(key).and_then(Value::as_str)
    }
}

impl BrokerClient {
    pub fn new(
        url: &str,
        access: &ClientAccess,
        login: Option<Login>,
    ) -> Result<Self, ClientError> {
        Ok(Self {
            endpoint: Endpoint::new("the broker", url, Limits::TEMPLATE, access)?,
            login,
        })
    }

    /// Calls `/v2/segment/segment`. Any status is an answer.
    pub async fn call(
        &self,
        method: Method,
        segments: &[&str],
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<BrokerAnswer, ClientError> {
        let segments: Vec<&str> = std::iter::once("v2")
            .chain(segments.iter().copied())
            .collect();
        let request = self.endpoint.request(method, &segments).query(query);
        let mut request = request.header("X-Broker-API-Version", VERSION);
        if let Some(Login { user, password }) = &self.login {
            request = request.basic_auth(user, Some(password));
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = self.endpoint.any(request, Some(DEADLINE)).await?;
        let status = response.status().as_u16();
        let retry_after = response.headers().get(RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| value.to_str().ok()?.parse().ok());
        let body = self.endpoint.whole(response, Some(DEADLINE)).await?;
        let body = serde_json::from_slice::<Value>(&body).unwrap_or_default();
        Ok(BrokerAnswer {
            status,
            body: body.as_object().cloned().unwrap_or_default(),
            retry_after: retry_after.map(Duration::from_secs),
        })
    }
}
