//! The port to the service that expands templates.
//!
//! Promises: an expansion has no effects, so it may be repeated. An error is the expander's own, unchanged, or says why
//! there is no answer.

#[cfg(test)]
pub mod fake;
mod http;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use common::api::expander::{ExpandRequest, ExpandResponse};
use common::server::observe::health::Check;

use crate::dependency::CallError;

pub use http::HttpExpander;

#[async_trait]
pub trait Expander: Send + Sync {
    /// Expands a configuration within the deadline.
    ///
    /// # Errors
    /// - [`CallError::Refused`]: expandybird's own error, with its location. A fault of the templates stays the same when the
    ///   call is repeated.
    /// - [`CallError::Expander`]: there is no answer within the deadline, or none that can be read.
    async fn expand(
        &self,
        request: Arc<ExpandRequest>,
        deadline: Duration,
    ) -> Result<ExpandResponse, CallError>;

    /// Whether it is ready.
    async fn health(&self) -> Check;
}
