//! Where progress goes: to the caller, as long as it listens.

use common::api::deployer::{Event, ResourceReport};
use tokio::sync::mpsc::Sender;

/// Nobody listens any more, so the work stops after the call that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the caller went away")]
pub struct CallerGone;

#[derive(Debug, Clone)]
pub struct Events(Sender<Event>);

impl Events {
    pub fn new(sender: Sender<Event>) -> Self {
        Self(sender)
    }

    pub async fn send(&self, event: Event) -> Result<(), CallerGone> {
        self.0.send(event).await.map_err(|_| CallerGone)
    }

    pub async fn resource(&self, report: ResourceReport) -> Result<(), CallerGone> {
        self.send(Event::Resource(report)).await
    }

    /// Returns when nobody listens any more.
    pub async fn gone(&self) {
        self.0.closed().await;
    }

    pub fn listened(&self) -> Result<(), CallerGone> {
        if self.0.is_closed() {
            Err(CallerGone)
        } else {
            Ok(())
        }
    }
}
