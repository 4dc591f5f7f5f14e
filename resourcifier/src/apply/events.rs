//! Where progress goes: to the caller, as long as it listens, and without the secrets that the work came by.

use std::sync::Arc;

use common::api::deployer::{Event, ResourceReport};
use tokio::sync::mpsc::Sender;

use super::Secrets;

/// Nobody listens any more, so the work stops after the call that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the caller went away")]
pub struct CallerGone;

#[derive(Debug, Clone)]
pub struct Events {
    sender: Sender<Event>,
    secrets: Arc<Secrets>,
}

impl Events {
    pub fn new(sender: Sender<Event>) -> Self {
        Self {
            sender,
            secrets: Arc::default(),
        }
    }

    /// What is told to nobody.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    pub async fn send(&self, mut event: Event) -> Result<(), CallerGone> {
        self.secrets.hide(&mut event);
        self.sender.send(event).await.map_err(|_| CallerGone)
    }

    pub async fn resource(&self, report: ResourceReport) -> Result<(), CallerGone> {
        self.send(Event::Resource(report)).await
    }

    /// Returns when nobody listens any more.
    pub async fn gone(&self) {
        self.sender.closed().await;
    }

    pub fn listened(&self) -> Result<(), CallerGone> {
        if self.sender.is_closed() {
            Err(CallerGone)
        } else {
            Ok(())
        }
    }
}
