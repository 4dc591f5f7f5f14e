//! The port to what expands templates.
//!
//! Promises: an expansion has no effects, so it may be repeated. An error is the expander's own, untouched, or says with
//! a 503 that the expander is away.

#[cfg(test)]
pub mod fake;
mod http;

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
        request: &ExpandRequest,
        deadline: Duration,
    ) -> Result<ExpandResponse, Box<ErrorBody>>;

    /// Whether it can expand now.
    async fn health(&self) -> Check;
}
