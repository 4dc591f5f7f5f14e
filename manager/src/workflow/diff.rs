//! Computes what a write would do. Nothing is changed.

use std::sync::Arc;

use common::api::deployer::{ApplyRequest, DiffReport, Event};
use common::api::error::{ErrorBody, ErrorCode};
use futures::StreamExt;
use tokio::time::Instant;

use super::job::follow::left_ms;
use super::retry::Retry;
use crate::deployer::Deployer;

/// Asks the deployer, and retries while it is unavailable.
pub async fn diff(
    deployer: &dyn Deployer,
    retry: &Retry,
    mut request: ApplyRequest,
    deadline: Instant,
) -> Result<DiffReport, Box<ErrorBody>> {
    request.timeout_ms = left_ms(deadline);
    let request = Arc::new(request);
    let attempt = || once(deployer, request.clone());
    match tokio::time::timeout_at(deadline, retry.persist(attempt)).await {
        Ok(outcome) => outcome,
        Err(_) => Err(Box::new(ErrorBody::new(
            ErrorCode::Timeout,
            format!(
                "what would happen to {} was not found out in time",
                request.deployment
            ),
        ))),
    }
}

async fn once(
    deployer: &dyn Deployer,
    request: Arc<ApplyRequest>,
) -> Result<DiffReport, Box<ErrorBody>> {
    let mut events = deployer.diff(request).await?;
    while let Some(event) = events.next().await {
        match event? {
            Event::Diff(report) => return Ok(report),
            Event::Error { error } => return Err(Box::new(error)),
            Event::Resource(_) | Event::Heartbeat | Event::Beat { .. } => {}
            Event::Report(_) => break,
        }
    }
    Err(Box::new(ErrorBody::new(
        ErrorCode::DeployerUnavailable,
        "resourcifier ended its answer without the differences",
    )))
}
