//! Types that are in use, and their instances.

use common::api::manager::{TypeInstance, TypeSummary};
use common::api::page::{Page, PageQuery};
use common::model::limits::PAGE_ITEMS_MAX;
use common::model::{Deployment, TypeName};

use jiff::Timestamp;

use crate::auth::Caller;
use crate::domain::manifest::instances::of_layout;
use crate::error::Error;
use crate::service::access::visibility::{VisibilityFilter, VisibilityFilters, filter_page, json};
use crate::store::manifests::instances;
use crate::store::{Store, deployments, manifests};

/// The path segment that stands for every type.
const ALL: &str = "all";

/// How many layouts are read before the page is looked at.
const LAYOUTS: usize = 20;
/// How many layouts one request reads.
const LAYOUTS_AT_MOST: usize = 1000;

pub struct Types {
    pub store: Store,
    pub filters: VisibilityFilters,
}

impl Types {
    /// The types with at least one instance that the caller may see, with the number of those instances.
    pub async fn list(
        &self,
        page: &PageQuery,
        caller: &Caller,
    ) -> Result<Page<TypeSummary>, Error> {
        let mut filter = self.filters.for_caller(caller).await?;
        let mut found = instances::types(&self.store, page).await?;
        if filter.sees_all() {
            return Ok(found);
        }
        for summary in &mut found.items {
            summary.instances = self.seen(&summary.name, &mut filter).await?;
        }
        found.items.retain(|summary| summary.instances > 0);
        Ok(found)
    }

    /// A page of instances, as JSON.
    pub async fn instances(
        &self,
        type_name: &TypeName,
        page: &PageQuery,
        caller: &Caller,
    ) -> Result<String, Error> {
        let one = Some(type_name).filter(|name| name.as_str() != ALL);
        let mut filter = self.filters.for_caller(caller).await?;
        if filter.sees_all() {
            return json(&instances::page(&self.store, one, page).await?);
        }
        let read = async |page| Ok(instances::page(&self.store, one, &page).await?);
        let sees = async |items: &[TypeInstance]| filter.instances(items).await;
        json(&filter_page(page, read, sees).await?)
    }

    /// A page of the instances at a past moment, as JSON: those of the manifests that were in force then. One request reads a
    /// bounded number of layouts, so a page may be short and still have a next one.
    pub async fn instances_at(
        &self,
        type_name: &TypeName,
        at: Timestamp,
        page: &PageQuery,
        caller: &Caller,
    ) -> Result<String, Error> {
        let one = Some(type_name).filter(|name| name.as_str() != ALL);
        let mut filter = self.filters.for_caller(caller).await?;
        let mut next = PageQuery {
            limit: Some(LAYOUTS),
            page_token: page.page_token.clone(),
        };
        let mut found = Vec::new();
        for _ in 0..LAYOUTS_AT_MOST / LAYOUTS {
            let deployments = deployments::page(&self.store, &next).await?;
            for deployment in &deployments.items {
                if filter.namespace(&deployment.namespace).await? {
                    found.extend(self.instances_of(deployment, at, one).await?);
                }
            }
            next.page_token = deployments.next_page_token;
            if next.page_token.is_none() || found.len() >= page.limit() {
                break;
            }
        }
        json(&Page {
            items: found,
            next_page_token: next.page_token,
        })
    }

    /// The instances of one deployment at a past moment.
    async fn instances_of(
        &self,
        deployment: &Deployment,
        at: Timestamp,
        type_name: Option<&TypeName>,
    ) -> Result<Vec<TypeInstance>, Error> {
        let Some(manifest) = manifests::in_force(&self.store, deployment, at).await? else {
            return Ok(Vec::new());
        };
        let layout = manifests::layout(&self.store, &deployment.name, &manifest).await?;
        let mut found = of_layout(&deployment.name, &manifest, &layout);
        found.retain(|instance| type_name.is_none_or(|name| *name == instance.type_name));
        Ok(found)
    }

    /// The number of instances of a type that the caller may see. The index counts all instances, so these are read.
    async fn seen(&self, name: &TypeName, filter: &mut VisibilityFilter<'_>) -> Result<u64, Error> {
        let mut query = PageQuery {
            limit: Some(PAGE_ITEMS_MAX),
            page_token: None,
        };
        let mut count = 0;
        loop {
            let page = instances::owners(&self.store, name, &query).await?;
            let seen = filter.parts_of(page.items).await?;
            count += seen.into_iter().filter(|seen| *seen).count() as u64;
            query.page_token = page.next_page_token;
            if query.page_token.is_none() {
                return Ok(count);
            }
        }
    }
}
