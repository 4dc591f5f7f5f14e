//! Lists that hold only what the caller may see.
//!
//! A caller who may see everything gets the stored pages. Other callers get pages from which the rest is removed. Such a
//! page may be shorter than the limit, or empty, and still have a next page: one request reads a bounded number of records.

use std::collections::HashMap;

use common::api::error::ErrorBody;
use common::api::manager::TypeInstance;
use common::api::page::{Page, PageQuery};
use common::model::limits::PAGE_ITEMS_MAX;
use common::model::{DeploymentName, Identity, Namespace};
use serde::Serialize;

use crate::auth::authorization::{Question, Visibility};
use crate::auth::{AccessControl, Caller, Resource, Verb};
use crate::error::Error;
use crate::store::operations::OperationRecord;
use crate::store::{Store, StoreError, deployments};

/// The number of records that one request reads at most.
const LOOKED_THROUGH: usize = 10_000;

#[derive(Clone)]
pub struct VisibilityFilters {
    pub store: Store,
    pub access: AccessControl,
}

/// What the caller of one request may see, as far as this request has asked.
pub struct VisibilityFilter<'a> {
    filters: &'a VisibilityFilters,
    identity: Option<&'a Identity>,
    visibility: Visibility,
    known: HashMap<Namespace, bool>,
    deployments: HashMap<DeploymentName, Option<Namespace>>,
}

impl VisibilityFilters {
    pub async fn for_caller<'a>(
        &'a self,
        caller: &'a Caller,
    ) -> Result<VisibilityFilter<'a>, Error> {
        let identity = caller.identity.as_ref();
        Ok(VisibilityFilter {
            filters: self,
            identity,
            visibility: self.access.visibility(identity).await?,
            known: HashMap::new(),
            deployments: HashMap::new(),
        })
    }
}

impl VisibilityFilter<'_> {
    pub fn sees_all(&self) -> bool {
        self.visibility == Visibility::All
    }

    /// In which of these the caller may see deployments.
    pub async fn namespaces<'n>(
        &mut self,
        namespaces: impl IntoIterator<Item = &'n Namespace>,
    ) -> Result<Vec<bool>, Error> {
        let mut seen = Vec::new();
        for namespace in namespaces {
            seen.push(self.namespace(namespace).await?);
        }
        Ok(seen)
    }

    pub async fn instances(&mut self, items: &[TypeInstance]) -> Result<Vec<bool>, Error> {
        let names = items.iter().map(|item| item.deployment.clone());
        self.parts_of(names.collect()).await
    }

    /// Which belong to deployments that the caller may see. Records of deployments that do not exist any more are visible only
    /// to callers who may see everything.
    pub async fn parts_of(&mut self, names: Vec<DeploymentName>) -> Result<Vec<bool>, Error> {
        self.learn(&names).await?;
        let mut seen = Vec::with_capacity(names.len());
        for name in names {
            let namespace = self.deployments.get(&name).cloned().flatten();
            seen.push(match namespace {
                Some(namespace) => self.namespace(&namespace).await?,
                None => false,
            });
        }
        Ok(seen)
    }

    pub async fn operations(&mut self, records: &[OperationRecord]) -> Result<Vec<bool>, Error> {
        let names = records
            .iter()
            .map(|record| record.operation.deployment.clone());
        let mut seen = self.parts_of(names.collect()).await?;
        for (record, seen) in records.iter().zip(&mut seen) {
            if let Some(namespace) = &record.namespace {
                *seen = self.namespace(namespace).await?;
            }
        }
        Ok(seen)
    }

    pub async fn namespace(&mut self, namespace: &Namespace) -> Result<bool, Box<ErrorBody>> {
        match &self.visibility {
            Visibility::All => return Ok(true),
            Visibility::Only(namespaces) => return Ok(namespaces.contains(namespace)),
            Visibility::Unknown => {}
        }
        if let Some(seen) = self.known.get(namespace) {
            return Ok(*seen);
        }
        let question = Question {
            namespace: Some(namespace.clone()),
            ..Question::all(Verb::List, Resource::Deployments)
        };
        let seen = self.filters.access.allows(self.identity, &question).await?;
        self.known.insert(namespace.clone(), seen);
        Ok(seen)
    }

    /// Reads the namespaces of the deployments that are not known yet, in one read.
    async fn learn(&mut self, names: &[DeploymentName]) -> Result<(), StoreError> {
        let mut new: Vec<_> = names.to_vec();
        new.retain(|name| !self.deployments.contains_key(name));
        new.sort();
        new.dedup();
        let found = deployments::namespaces(&self.filters.store, &new).await?;
        self.deployments.extend(new.into_iter().zip(found));
        Ok(())
    }
}

/// Fills a page from stored pages with what the caller may see. Each stored page is as long as what is still missing, so
/// that its token is the token of the next page.
pub async fn filter_page<T>(
    query: &PageQuery,
    mut read: impl AsyncFnMut(PageQuery) -> Result<Page<T>, Error>,
    mut sees: impl AsyncFnMut(&[T]) -> Result<Vec<bool>, Error>,
) -> Result<Page<T>, Error> {
    if query.limit == Some(0) {
        return Err(StoreError::PageLimit.into());
    }
    let (wanted, mut left) = (query.limit(), LOOKED_THROUGH);
    let mut filter_page = Page {
        items: Vec::new(),
        next_page_token: query.page_token.clone(),
    };
    loop {
        let stored = PageQuery {
            limit: Some((wanted - filter_page.items.len()).min(PAGE_ITEMS_MAX)),
            page_token: filter_page.next_page_token.take(),
        };
        let page = read(stored).await?;
        left = left.saturating_sub(page.items.len());
        let seen = sees(&page.items).await?;
        let items = page.items.into_iter().zip(seen);
        filter_page
            .items
            .extend(items.filter_map(|(item, seen)| seen.then_some(item)));
        filter_page.next_page_token = page.next_page_token;
        let whole = filter_page.items.len() >= wanted || filter_page.next_page_token.is_none();
        if whole || left == 0 {
            return Ok(filter_page);
        }
    }
}

/// A page in the format of stored pages.
pub fn json(page: &impl Serialize) -> Result<String, Error> {
    let written = serde_json::to_string(page);
    Ok(written.map_err(|error| StoreError::Broken(error.to_string()))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers below `total`, a page of them as a store gives it.
    fn stored(total: usize, query: &PageQuery) -> Page<usize> {
        let start = query
            .page_token
            .as_deref()
            .map_or(0, |token| token.parse().unwrap());
        let end = total.min(start + query.limit());
        Page {
            items: (start..end).collect(),
            next_page_token: (end < total).then(|| end.to_string()),
        }
    }

    /// All pages, of numbers that can be divided.
    async fn pages(total: usize, limit: usize, divisor: usize) -> Vec<Vec<usize>> {
        let mut query = PageQuery {
            limit: Some(limit),
            page_token: None,
        };
        let mut pages = Vec::new();
        loop {
            let read = async |query| Ok(stored(total, &query));
            let sees =
                async |items: &[usize]| Ok(items.iter().map(|item| item % divisor == 0).collect());
            let page = filter_page(&query, read, sees).await.unwrap();
            pages.push(page.items);
            query.page_token = page.next_page_token;
            if query.page_token.is_none() {
                return pages;
            }
        }
    }

    #[tokio::test]
    async fn pages_meet_all_that_is_seen_once_and_are_full_but_the_last() {
        for (total, limit, divisor) in [
            (100, 7, 3),
            (100, 1, 10),
            (5, 10, 1),
            (0, 3, 1),
            (50, 5, 49),
        ] {
            let pages = pages(total, limit, divisor).await;
            let expected: Vec<_> = (0..total).filter(|number| number % divisor == 0).collect();
            assert_eq!(pages.concat(), expected);
            let (_, full) = pages.split_last().unwrap();
            assert!(full.iter().all(|page| page.len() == limit), "{pages:?}");
        }
    }

    #[tokio::test]
    async fn what_others_have_is_not_looked_through_in_one_request() {
        let pages = pages(LOOKED_THROUGH * 3, 100, LOOKED_THROUGH * 2).await;
        assert_eq!(pages.concat(), [0, LOOKED_THROUGH * 2]);
        assert!((3..=4).contains(&pages.len()), "{}", pages.len());
    }
}
