//! Deployments, as they are stored.

use common::api::error::ErrorCode;
use common::api::page::PageQuery;
use common::model::{Deployment, DeploymentName};

use super::sight::{Views, json, sifted};
use crate::auth::Caller;
use crate::error::Error;
use crate::store::Store;
use crate::store::deployments;

pub struct Deployments {
    pub store: Store,
    pub views: Views,
}

impl Deployments {
    /// A page of those that the caller may see, as JSON.
    pub async fn list(&self, page: &PageQuery, caller: &Caller) -> Result<String, Error> {
        let mut viewer = self.views.of(caller).await?;
        if viewer.sees_all() {
            return Ok(deployments::list(&self.store, page).await?);
        }
        let read = async |page| Ok(deployments::page(&self.store, &page).await?);
        let seen = sifted(page, read, async |items| viewer.deployments(items).await).await?;
        json(&seen)
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
