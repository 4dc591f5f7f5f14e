//! The client of the manager.

mod activity;
mod admin;
mod clusters;
mod credentials;
mod deployments;
mod manifests;
mod operations;
mod registries;
mod templates;
mod types;
mod write;

use std::time::Duration;

use serde::de::DeserializeOwned;

use super::access::ClientAccess;
use super::error::ClientError;
use super::http::Endpoint;
use crate::api::manager::Whoami;
use crate::json::Limits;
use crate::server::observe::health::Readiness;
use write::NOTHING;

pub use write::{Answer, Write};

/// The deadline of reads. The slowest of them lists a registry over a slow network.
const READ: Duration = Duration::from_secs(60);

#[derive(Debug, Clone)]
pub struct ManagerClient {
    endpoint: Endpoint,
}

impl ManagerClient {
    /// The client of a manager without authentication.
    pub fn new(url: &str) -> Result<Self, ClientError> {
        Self::with(url, &ClientAccess::default())
    }

    /// `url` may be several, separated by commas, of managers with one store: requests go to the first one that can be
    /// reached, and to the next one when the connection to it fails or breaks.
    pub fn with(url: &str, access: &ClientAccess) -> Result<Self, ClientError> {
        let urls: Vec<_> = url.split(',').map(str::trim).collect();
        Ok(Self {
            endpoint: Endpoint::at_any("the manager", &urls, Limits::MANIFEST, access)?,
        })
    }

    /// The address of the manager's page, for a browser.
    pub fn page(&self) -> String {
        format!("{}/ui/", self.endpoint.url().as_str().trim_end_matches('/'))
    }

    /// The service's readiness report, ready or not.
    pub async fn readiness(&self) -> Result<Readiness, ClientError> {
        self.endpoint.readiness(READ).await
    }

    /// The identity of this client, as the manager authenticates it.
    pub async fn whoami(&self) -> Result<Whoami, ClientError> {
        self.read(&["whoami"]).await
    }

    async fn read<T: DeserializeOwned + Send + 'static>(
        &self,
        segments: &[&str],
    ) -> Result<T, ClientError> {
        self.endpoint.get(segments, &(), READ).await
    }
}
