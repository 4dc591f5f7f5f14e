//! Deployments, as they are stored.

use common::api::error::ErrorCode;
use common::api::page::PageQuery;
use common::model::{Deployment, DeploymentName};

use crate::error::Error;
use crate::store::Store;
use crate::store::deployments;

pub struct Deployments {
    pub store: Store,
}

impl Deployments {
    /// A page of them, as JSON.
    pub async fn list(&self, page: &PageQuery) -> Result<String, Error> {
        Ok(deployments::list(&self.store, page).await?)
    }

    pub async fn get(&self, name: &DeploymentName) -> Result<Deployment, Error> {
        let found = deployments::get(&self.store, name).await?;
        found.ok_or_else(|| missing(name))
    }
}

pub fn missing(name: &DeploymentName) -> Error {
    Error::new(
        ErrorCode::NotFound,
        format!("there is no deployment '{name}'"),
    )
}
