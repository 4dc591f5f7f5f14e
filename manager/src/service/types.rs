//! Types that are in use, and their instances.

use common::api::manager::{TypeInstance, TypeSummary};
use common::api::page::{Page, PageQuery};
use common::model::TypeName;
use common::model::limits::PAGE_ITEMS_MAX;

use super::visibility::{VisibilityFilter, VisibilityFilters, filter_page, json};
use crate::auth::Caller;
use crate::error::Error;
use crate::store::{Store, instances};

/// The path segment that stands for every type.
const ALL: &str = "all";

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
            return Ok(instances::list(&self.store, one, page).await?);
        }
        let read = async |page| Ok(instances::page(&self.store, one, &page).await?);
        let sees = async |items: &[TypeInstance]| filter.instances(items).await;
        json(&filter_page(page, read, sees).await?)
    }

    /// The number of instances of a type that the caller may see. The index counts all instances, so these are read.
    async fn seen(&self, name: &TypeName, filter: &mut VisibilityFilter<'_>) -> Result<u64, Error> {
        let mut query = PageQuery {
            limit: Some(PAGE_ITEMS_MAX),
            page_token: None,
        };
        let mut count = 0;
        loop {
            let page = instances::page(&self.store, Some(name), &query).await?;
            let seen = filter.instances(&page.items).await?;
            count += seen.into_iter().filter(|seen| *seen).count() as u64;
            query.page_token = page.next_page_token;
            if query.page_token.is_none() {
                return Ok(count);
            }
        }
    }
}
