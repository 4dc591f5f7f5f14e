//! Stored deployments.

pub mod activity;
pub mod drift;
pub mod live;
pub mod manifests;
pub mod previews;

use std::collections::{BTreeMap, BTreeSet};

use common::api::error::ErrorCode;
use common::api::manager::{
    DeploymentAnswer, DeploymentList, DeploymentPermissions, DeploymentsQuery, OrderBy, Permission,
};
use common::api::page::{Page, PageQuery};
use common::model::limits::PAGE_ITEMS_MAX;
use common::model::{ClusterName, Deployment, DeploymentName, DeploymentStatus, Namespace};

use super::access::visibility::{VisibilityFilter, VisibilityFilters, filter_page, json};
use super::pages::by_name;
use crate::auth::authorization::Question;
use crate::auth::{Caller, Verb};
use crate::domain::operation::correction;
use crate::domain::selector::Selector;
use crate::error::Error;
use crate::store::deployments::DeploymentRow;
use crate::store::manifests::instances;
use crate::store::{Store, deployments};

pub struct Deployments {
    pub store: Store,
    pub filters: VisibilityFilters,
    /// Whether the manager checks for drift on a schedule.
    pub drift_checks: bool,
}

impl Deployments {
    /// A page of the deployments that the query asks for and the caller may see, as JSON.
    pub async fn list(&self, query: &DeploymentsQuery, caller: &Caller) -> Result<String, Error> {
        let page = query.page();
        let mut visible = self.filters.for_caller(caller).await?;
        let whole = DeploymentsQuery::from(page.clone());
        if visible.sees_all() && *query == whole {
            return Ok(deployments::list(&self.store, &page).await?);
        }
        let wanted = self.wanted(query).await?;
        let read = async |page| {
            let found = match &wanted.part {
                Some(part) => deployments::search::page(&self.store, part, &page).await?,
                None => deployments::page(&self.store, &page).await?,
            };
            Ok(found)
        };
        let sees = async |items: &[Deployment]| {
            let visible = visible.deployments(items).await?;
            let both = items.iter().zip(visible);
            Ok(both.map(|(item, seen)| seen && wanted.is(item)).collect())
        };
        let found = match query.order_by.unwrap_or_default() {
            OrderBy::Name => filter_page(&page, read, sees).await?,
            OrderBy::ModifiedAt => latest_first(&page, read, sees).await?,
        };
        let counts = match query.counts {
            true => Some(self.counts(&wanted, &mut visible).await?),
            false => None,
        };
        json(&DeploymentList {
            items: found.items,
            next_page_token: found.next_page_token,
            counts,
        })
    }

    /// How many deployments fit, by status. The wanted status does not count: people choose one by these numbers.
    async fn counts(
        &self,
        wanted: &Wanted,
        visible: &mut VisibilityFilter<'_>,
    ) -> Result<BTreeMap<String, u64>, Error> {
        let mut counts = BTreeMap::new();
        let mut next = PageQuery {
            limit: Some(PAGE_ITEMS_MAX),
            page_token: None,
        };
        loop {
            let page = deployments::rows(&self.store, &next).await?;
            let fitting = page
                .items
                .into_iter()
                .filter(|row| wanted.is_but_status(row));
            for row in fitting.collect::<Vec<_>>() {
                if visible.namespace(&row.namespace).await? {
                    *counts.entry(format!("{:?}", row.state.status)).or_default() += 1;
                }
            }
            next.page_token = page.next_page_token;
            if next.page_token.is_none() {
                return Ok(counts);
            }
        }
    }

    async fn wanted(&self, query: &DeploymentsQuery) -> Result<Wanted, Error> {
        let selector = query.label_selector.as_deref().unwrap_or_default();
        let selector = Selector::parse(selector).map_err(|error| Error::invalid(&error))?;
        let of_type = match &query.type_name {
            Some(name) => Some(instances::deployments(&self.store, name).await?),
            None => None,
        };
        Ok(Wanted {
            namespace: query.namespace.clone(),
            cluster: query.cluster.clone(),
            status: query.status,
            part: query.q.as_deref().map(str::to_lowercase),
            selector,
            of_type,
        })
    }

    pub async fn get(&self, name: &DeploymentName) -> Result<Deployment, Error> {
        let found = deployments::get(&self.store, name).await?;
        let mut found = found.ok_or_else(|| missing(name))?;
        if correction::is_unchecked(found.drift_policy, self.drift_checks) {
            found.warnings.push(correction::UNCHECKED.to_owned());
        }
        Ok(found)
    }

    /// The deployment, with what the caller may do with it.
    pub async fn answer(
        &self,
        name: &DeploymentName,
        caller: &Caller,
    ) -> Result<DeploymentAnswer, Error> {
        let deployment = self.get(name).await?;
        let may = DeploymentPermissions {
            update: self.may(Verb::Update, &deployment, caller).await?,
            delete: self.may(Verb::Delete, &deployment, caller).await?,
        };
        Ok(DeploymentAnswer { deployment, may })
    }

    async fn may(
        &self,
        verb: Verb,
        deployment: &Deployment,
        caller: &Caller,
    ) -> Result<Permission, Error> {
        let question = Question::deployment(verb, &deployment.namespace, &deployment.name);
        let access = &self.filters.access;
        let refused = access
            .require(caller.identity.as_ref(), &question)
            .await
            .err();
        match refused {
            Some(error) if error.code != ErrorCode::Forbidden => Err(error.into()),
            refused => Ok(Permission {
                allowed: refused.is_none(),
                reason: refused.map(|error| error.message),
            }),
        }
    }
}

/// What the query says of each deployment.
struct Wanted {
    namespace: Option<Namespace>,
    cluster: Option<ClusterName>,
    status: Option<DeploymentStatus>,
    part: Option<String>,
    selector: Selector,
    of_type: Option<BTreeSet<DeploymentName>>,
}

impl Wanted {
    fn is(&self, item: &Deployment) -> bool {
        let status = self.status.is_none_or(|status| status == item.state.status);
        let place = (&item.cluster, &item.namespace);
        status && self.fits(&item.name, place, &item.labels)
    }

    fn is_but_status(&self, row: &DeploymentRow) -> bool {
        self.fits(&row.name, (&row.cluster, &row.namespace), &row.labels)
    }

    fn fits(
        &self,
        name: &DeploymentName,
        (cluster, namespace): (&ClusterName, &Namespace),
        labels: &BTreeMap<String, String>,
    ) -> bool {
        let (part, of_type) = (self.part.as_ref(), self.of_type.as_ref());
        self.namespace
            .as_ref()
            .is_none_or(|wanted| wanted == namespace)
            && self.cluster.as_ref().is_none_or(|wanted| wanted == cluster)
            && part.is_none_or(|part| name.as_str().contains(part.as_str()))
            && of_type.is_none_or(|names| names.contains(name))
            && self.selector.matches(labels)
    }
}

/// A page in the order of the last change. The store has no such order, so all of them are read.
async fn latest_first(
    query: &PageQuery,
    mut read: impl AsyncFnMut(PageQuery) -> Result<Page<Deployment>, Error>,
    mut sees: impl AsyncFnMut(&[Deployment]) -> Result<Vec<bool>, Error>,
) -> Result<Page<Deployment>, Error> {
    let mut found = Vec::new();
    let mut next = PageQuery {
        limit: Some(PAGE_ITEMS_MAX),
        page_token: None,
    };
    loop {
        let page = read(next.clone()).await?;
        let seen = sees(&page.items).await?;
        let items = page.items.into_iter().zip(seen);
        found.extend(items.filter_map(|(item, seen)| seen.then(|| (changed_key(&item), item))));
        next.page_token = page.next_page_token;
        if next.page_token.is_none() {
            break;
        }
    }
    found.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    let page = by_name(found, |(key, _)| key, query)?;
    Ok(Page {
        items: page.items.into_iter().map(|(_, item)| item).collect(),
        next_page_token: page.next_page_token,
    })
}

/// Sorts what changed last first; unique by the name.
fn changed_key(item: &Deployment) -> String {
    let changed = item.modified_at.unwrap_or(item.created_at);
    let age = i64::MAX - changed.as_millisecond();
    format!("{age:020} {}", item.name)
}

pub fn missing(name: &DeploymentName) -> Error {
    Error::new(
        ErrorCode::NotFound,
        format!("there is no deployment '{name}'"),
    )
}
