//! The client of expandybird.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Method;

use super::access::ClientAccess;
use super::error::ClientError;
use super::http::{Endpoint, with_body};
use crate::api::expander::{CALLER_HEADER, ExpandRequest, ExpandResponse};
use crate::json::Limits;
use crate::server::observe::health::Readiness;

#[derive(Debug, Clone)]
pub struct ExpanderClient {
    endpoint: Endpoint,
}

impl ExpanderClient {
    pub fn new(url: &str, access: &ClientAccess) -> Result<Self, ClientError> {
        Ok(Self {
            endpoint: Endpoint::new("expandybird", url, Limits::ANSWER, access)?,
        })
    }

    /// Expands, in one try. An expansion has no effects, so the caller may repeat it while the service is unreachable.
    pub async fn expand(
        &self,
        request: impl Into<Arc<ExpandRequest>>,
        deadline: Duration,
    ) -> Result<ExpandResponse, ClientError> {
        let request = request.into();
        let body = self.endpoint.body(request.clone()).await?;
        let mut message = with_body(self.endpoint.request(Method::POST, &["expand"]), body);
        if let Some(caller) = request.caller() {
            message = message.header(CALLER_HEADER, caller);
        }
        self.endpoint.fetch(message, Some(deadline)).await
    }

    /// The service's readiness report, ready or not.
    pub async fn readiness(&self, deadline: Duration) -> Result<Readiness, ClientError> {
        self.endpoint.readiness(deadline).await
    }
}
