//! The port to the service that expands templates.
//!
//! Promises: an expansion has no effects, so it may be repeated. An error is the expander's own, unchanged, or a 503
//! that says that the expander is unavailable.

#[cfg(test)]
pub mod fake;
mod http;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use common::api::error::ErrorBody;
use common::api::expander::{ExpandRequest, ExpandResponse};
use common::server::health::Check;

pub use http::HttpExpander;

#[async_trait]
pub trait Expander: Send + Sync {
    async fn expand(
        &self,
        request: Arc<ExpandRequest>,
        deadline: Duration,
    ) -> Result<ExpandResponse, Box<ErrorBody>>;

    /// Whether it is ready.
    async fn health(&self) -> Check;
}
