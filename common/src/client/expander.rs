//! The client of expandybird.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Method;

use super::access::ClientAccess;
use super::error::ClientError;
use super::http::{Endpoint, with_body};
use super::instances::Instances;
use crate::api::expander::{CALLER_HEADER, ExpandRequest, ExpandResponse};
use crate::json::Limits;
use crate::server::observe::health::Readiness;

#[derive(Debug, Clone)]
pub struct ExpanderClient {
    instances: Instances,
}

impl ExpanderClient {
    /// `urls` as in [`Instances::new`].
    pub fn new(urls: &str, access: &ClientAccess) -> Result<Self, ClientError> {
        Ok(Self {
            instances: Instances::new("expandybird", urls, Limits::ANSWER, access)?,
        })
    }

    /// Expands, in one try at each instance. An expansion has no effects, so the caller may repeat it while the service
    /// is unreachable.
    pub async fn expand(
        &self,
        request: impl Into<Arc<ExpandRequest>>,
        deadline: Duration,
    ) -> Result<ExpandResponse, ClientError> {
        let request = request.into();
        let body = self.instances.body(request.clone()).await?;
        let send = |endpoint: &Endpoint| {
            let message = endpoint.request(Method::POST, &["expand"]);
            let message = with_body(message, body.clone());
            match request.caller() {
                Some(caller) => message.header(CALLER_HEADER, caller),
                None => message,
            }
        };
        let again = ClientError::is_transient;
        self.instances.fetch(send, deadline, again).await
    }

    /// The readiness report of each instance, ready or not, with its URL.
    pub async fn readiness(
        &self,
        deadline: Duration,
    ) -> Vec<(String, Result<Readiness, ClientError>)> {
        self.instances.readiness(deadline).await
    }
}
