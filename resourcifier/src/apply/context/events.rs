//! Where progress goes: to the caller, as long as it reads, and without the secrets that the work came by.
//!
//! A caller that reads no more does not end the work here: the job's gate closes, and the work ends as for any other halt.

use std::sync::Arc;

use common::api::deployer::{Event, ResourceReport};
use tokio::sync::mpsc::Sender;

use super::secrets::Secrets;
use crate::kubectl::Halt;

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

    /// The secret values to redact.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// # Errors
    /// The caller reads no more.
    pub async fn send(&self, event: Event) -> Result<(), Halt> {
        let event = Secrets::hidden_in(&self.secrets, event, Secrets::hide).await;
        let sent = self.sender.send(event).await;
        sent.map_err(|_| Halt::CallerGone)
    }

    /// Tells how a resource stands, if anybody reads it.
    pub async fn resource(&self, report: ResourceReport) {
        // The work goes on to its end, as its gate says.
        let _ = self.send(Event::Resource(report)).await;
    }

    /// Returns when the caller reads no more.
    pub async fn gone(&self) {
        self.sender.closed().await;
    }
}
