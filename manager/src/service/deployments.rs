//! Stored deployments.

use common::api::error::ErrorCode;
use common::api::page::PageQuery;
use common::model::{Deployment, DeploymentName};

use super::visibility::{VisibilityFilters, filter_page, json};
use crate::auth::Caller;
use crate::error::Error;
use crate::store::Store;
use crate::store::deployments;

pub struct Deployments {
    pub store: Store,
    pub filters: VisibilityFilters,
}

impl Deployments {
    /// A page of the deployments that the caller may see, as JSON.
    pub async fn list(&self, page: &PageQuery, caller: &Caller) -> Result<String, Error> {
        let mut filter = self.filters.for_caller(caller).await?;
        if filter.sees_all() {
            return Ok(deployments::list(&self.store, page).await?);
        }
        let read = async |page| Ok(deployments::page(&self.store, &page).await?);
        let seen = filter_page(page, read, async |items| filter.deployments(items).await).await?;
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
