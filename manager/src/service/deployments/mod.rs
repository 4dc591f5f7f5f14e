//! Stored deployments.

pub mod activity;
pub mod drift;
mod latest;
pub mod live;
pub mod manifests;
pub mod previews;

use std::collections::{BTreeMap, BTreeSet};

use common::api::error::ErrorCode;
use common::api::manager::{
    DeploymentAnswer, DeploymentList, DeploymentPermissions, DeploymentsQuery, OrderBy, Permission,
};
use common::api::page::{Page, PageQuery};
use common::model::{ClusterName, Deployment, DeploymentName, DeploymentStatus, Namespace};

use self::latest::LatestRows;
use super::access::visibility::{VisibilityFilter, VisibilityFilters, filter_page, json};
use crate::auth::authorization::Question;
use crate::auth::{Caller, Verb};
use crate::domain::operation::correction;
use crate::domain::selector::Selector;
use crate::error::Error;
use crate::store::deployments::index::{self, DeploymentRow};
use crate::store::deployments::rows;
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
            return Ok(rows::list(&self.store, &page).await?);
        }
        let wanted = self.wanted(query).await?;
        let found = match query.order_by.unwrap_or_default() {
            OrderBy::Name => self.by_name(&page, &wanted, &mut visible).await?,
            OrderBy::ModifiedAt => self.latest_first(&page, &wanted, &mut visible).await?,
        };
        let names = found.items.iter().map(|row| &row.name);
        let items = rows::each(&self.store, names).await?;
        let counts = match query.counts {
            true => Some(self.counts(&wanted, &mut visible).await?),
            false => None,
        };
        json(&DeploymentList {
            items,
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
        let mut found: BTreeMap<Namespace, BTreeMap<String, u64>> = BTreeMap::new();
        index::each(&self.store, |row| {
            if wanted.is_but_status(row) {
                let status = format!("{:?}", row.state.status);
                let counts = found.entry(row.namespace.clone()).or_default();
                *counts.entry(status).or_default() += 1;
            }
        })
        .await?;
        let mut counts = BTreeMap::new();
        for (namespace, some) in found {
            if visible.namespace(&namespace).await? {
                for (status, count) in some {
                    *counts.entry(status).or_default() += count;
                }
            }
        }
        Ok(counts)
    }

    async fn by_name(
        &self,
        page: &PageQuery,
        wanted: &Wanted,
        visible: &mut VisibilityFilter<'_>,
    ) -> Result<Page<DeploymentRow>, Error> {
        let read = async |page| Ok(index::page(&self.store, &page, |row| wanted.is(row)).await?);
        let sees = async |rows: &[DeploymentRow]| {
            visible
                .namespaces(rows.iter().map(|row| &row.namespace))
                .await
        };
        filter_page(page, read, sees).await
    }

    /// A page in the order of the last change.
    async fn latest_first(
        &self,
        page: &PageQuery,
        wanted: &Wanted,
        visible: &mut VisibilityFilter<'_>,
    ) -> Result<Page<DeploymentRow>, Error> {
        let mut namespaces = BTreeSet::new();
        index::each(&self.store, |row| {
            if wanted.is(row) && !namespaces.contains(&row.namespace) {
                namespaces.insert(row.namespace.clone());
            }
        })
        .await?;
        let mut seen = BTreeSet::new();
        for namespace in namespaces {
            if visible.namespace(&namespace).await? {
                seen.insert(namespace);
            }
        }
        let mut latest = LatestRows::new(page)?;
        index::each(&self.store, |row| {
            if wanted.is(row) && seen.contains(&row.namespace) {
                latest.meet(row);
            }
        })
        .await?;
        Ok(latest.page()?)
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
        let identity = caller.identity.as_ref();
        Ok(access.permission(identity, &question).await?)
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
    fn is(&self, row: &DeploymentRow) -> bool {
        let status = self.status.is_none_or(|status| status == row.state.status);
        status && self.is_but_status(row)
    }

    fn is_but_status(&self, row: &DeploymentRow) -> bool {
        fn is<T: PartialEq>(wanted: Option<&T>, value: &T) -> bool {
            wanted.is_none_or(|wanted| wanted == value)
        }
        let (part, of_type) = (self.part.as_ref(), self.of_type.as_ref());
        is(self.namespace.as_ref(), &row.namespace)
            && is(self.cluster.as_ref(), &row.cluster)
            && part.is_none_or(|part| row.name.as_str().contains(part.as_str()))
            && of_type.is_none_or(|names| names.contains(&row.name))
            && self.selector.matches(&row.labels)
    }
}

pub fn missing(name: &DeploymentName) -> Error {
    Error::new(
        ErrorCode::NotFound,
        format!("there is no deployment '{name}'"),
    )
}
