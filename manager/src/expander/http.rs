//! expandybird over HTTP.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use common::api::expander::{ExpandRequest, ExpandResponse};
use common::client::{ClientAccess, ClientError, ExpanderClient};
use common::server::observe::health::Check;

use super::Expander;
use crate::dependency::{self, CallError};

#[derive(Debug, Clone)]
pub struct HttpExpander {
    client: ExpanderClient,
}

impl HttpExpander {
    /// `urls` is one URL, or several with commas between them.
    pub fn new(urls: &str, access: &ClientAccess) -> Result<Self, ClientError> {
        Ok(Self {
            client: ExpanderClient::new(urls, access)?,
        })
    }
}

#[async_trait]
impl Expander for HttpExpander {
    async fn expand(
        &self,
        request: Arc<ExpandRequest>,
        deadline: Duration,
    ) -> Result<ExpandResponse, CallError> {
        let expanded = self.client.expand(request, deadline).await;
        expanded.map_err(CallError::of_expander)
    }

    async fn health(&self) -> Check {
        dependency::check(
            "expandybird",
            self.client.readiness(dependency::PATIENCE).await,
        )
    }
}
