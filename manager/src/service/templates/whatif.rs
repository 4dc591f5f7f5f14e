//! What deployments would be with another version of a template. Nothing is stored, and the cluster is not contacted.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use common::api::deployer::{ResourceDiff, ResourceIntent};
use common::api::error::{ErrorBody, ErrorCode};
use common::api::page::{Page, PageQuery};
use common::api::upgrade::{
    TemplateUse, UpgradePermissions, WhatIf, WhatIfItem, WhatIfOutcome, WhatIfPage, WhatIfQuery,
};
use common::model::limits::PAGE_ITEMS_MAX;
use common::model::{Deployment, DeploymentName, DeploymentStatus, DiffSummary};
use common::{compare, work};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use tokio::time::Instant;

use crate::auth::authorization::Question;
use crate::auth::{Caller, Verb};
use crate::domain::redaction::Redaction;
use crate::error::Error;
use crate::service::access::visibility::VisibilityFilters;
use crate::service::deployments::missing;
use crate::service::pages;
use crate::store::manifests::{Head, instances};
use crate::store::{Store, StoreError, broker, deployments, manifests};
use crate::workflow::expansion::choice::{self, Choice, Latest};
use crate::workflow::expansion::cluster::View;
use crate::workflow::expansion::{Expansions, Subject, redacting};
use crate::workflow::upgrade::{Dependent, UpgradeTarget, unused};

/// Deployments that are expanded in parallel: enough to keep the expander busy, with capacity left for other requests.
const AT_ONCE: usize = 8;

pub struct WhatIfs {
    pub store: Store,
    pub filters: VisibilityFilters,
    pub expansions: Arc<Expansions>,
    /// The time for the expansion of one deployment.
    pub timeout: Duration,
}

impl WhatIfs {
    /// A page of the deployments that use the template and that the caller may see, by name. A deployment that turns
    /// out not to use it is left out.
    pub async fn page(
        &self,
        request: &WhatIf,
        query: &WhatIfQuery,
        caller: &Caller,
    ) -> Result<WhatIfPage, Error> {
        let target = UpgradeTarget::find(&self.expansions, &request.template).await?;
        let named = self.selected(request, &target, caller).await?;
        let page = PageQuery {
            limit: query.limit,
            page_token: query.page_token.clone(),
        };
        let page = pages::by_name(named, DeploymentName::as_str, &page)?;
        let items = stream::iter(&page.items)
            .map(|name| self.item(name, &target, query.full, caller))
            .buffered(AT_ONCE);
        let items: Vec<Option<WhatIfItem>> = items.try_collect().await?;
        Ok(WhatIfPage {
            template: target.resolved,
            items: items.into_iter().flatten().collect(),
            next_page_token: page.next_page_token,
        })
    }

    /// The candidates, sorted.
    async fn selected(
        &self,
        request: &WhatIf,
        target: &UpgradeTarget,
        caller: &Caller,
    ) -> Result<Vec<DeploymentName>, Error> {
        let mut users = self.users(target).await?;
        let mut filter = self.filters.for_caller(caller).await?;
        for name in &request.deployments {
            let found = deployments::get(&self.store, name).await?;
            let seen = filter
                .namespaces(found.iter().map(|item| &item.namespace))
                .await?;
            if seen != [true] {
                return Err(missing(name));
            }
            if !users.contains(name) {
                return Err(Error::new(
                    ErrorCode::InvalidRequest,
                    unused(name, &request.template),
                ));
            }
        }
        if !request.deployments.is_empty() {
            users = request.deployments.iter().cloned().collect();
        }
        if request.labels.is_empty() && filter.sees_all() {
            return Ok(users.into_iter().collect());
        }
        let mut selected = Vec::new();
        for name in users {
            let found = deployments::get(&self.store, &name).await?;
            let labelled = |found: &Deployment| {
                let mut wanted = request.labels.iter();
                wanted.all(|(key, value)| found.labels.get(key) == Some(value))
            };
            let seen = filter
                .namespaces(found.iter().map(|item| &item.namespace))
                .await?;
            if seen == [true] && found.as_ref().is_some_and(labelled) {
                selected.push(name);
            }
        }
        Ok(selected)
    }

    /// Uses the index of type instances: deployments that refer to the template at any version and in any spelling.
    async fn users(&self, target: &UpgradeTarget) -> Result<BTreeSet<DeploymentName>, Error> {
        let mut users = BTreeSet::new();
        let mut query = PageQuery {
            limit: Some(PAGE_ITEMS_MAX),
            page_token: None,
        };
        loop {
            let Page {
                items,
                next_page_token,
            } = instances::types(&self.store, &query).await?;
            let types = items.iter().map(|summary| &summary.name);
            for reference in target.references(&self.expansions, types).await.keys() {
                users.extend(instances::deployments(&self.store, reference).await?);
            }
            query.page_token = next_page_token;
            if query.page_token.is_none() {
                return Ok(users);
            }
        }
    }

    /// None: the deployment was removed meanwhile, or an import has the template's name.
    async fn item(
        &self,
        name: &DeploymentName,
        target: &UpgradeTarget,
        full: bool,
        caller: &Caller,
    ) -> Result<Option<WhatIfItem>, Error> {
        let Some(deployment) = deployments::get(&self.store, name).await? else {
            return Ok(None);
        };
        let head = match &deployment.latest_manifest {
            Some(latest) => manifests::head(&self.store, name, latest).await?,
            None => None,
        };
        let Some(head) = head else {
            return Ok(None);
        };
        let dependent = target
            .dependent(&self.store, &self.expansions, head.clone())
            .await?;
        if dependent.uses.is_empty() {
            return Ok(None);
        }
        let may = self.permissions(&deployment, caller).await?;
        if target.is_current(&dependent) {
            let outcome = match deployment.state.status {
                DeploymentStatus::Failed => WhatIfOutcome::Unfinished,
                _ => WhatIfOutcome::Current,
            };
            return Ok(Some(item(name, dependent.uses, outcome, may)));
        }
        let compared = self
            .compared(&deployment, &head, target, &dependent, caller)
            .await?;
        let unknown = item(name, dependent.uses, WhatIfOutcome::Failing, may);
        Ok(Some(compared_item(unknown, compared, full)))
    }

    async fn permissions(
        &self,
        deployment: &Deployment,
        caller: &Caller,
    ) -> Result<UpgradePermissions, Error> {
        let (namespace, name) = (&deployment.namespace, &deployment.name);
        let question = Question::deployment(Verb::Update, namespace, name);
        let (access, identity) = (&self.filters.access, caller.identity.as_ref());
        Ok(UpgradePermissions {
            upgrade: access.permission(identity, &question).await?,
        })
    }

    /// Templates see the deployment of the latest manifest, so every difference comes from the version.
    async fn compared(
        &self,
        deployment: &Deployment,
        head: &Head,
        target: &UpgradeTarget,
        dependent: &Dependent,
        caller: &Caller,
    ) -> Result<Result<Vec<ResourceDiff>, Box<ErrorBody>>, StoreError> {
        let (store, name) = (&self.store, &deployment.name);
        let subject = Subject {
            deployment: name.clone(),
            namespace: deployment.namespace.clone(),
            cluster: deployment.cluster.clone(),
            manifest: head.name.clone(),
            user: caller.user().to_owned(),
            time: head.created_at,
            values: manifests::values(store, name, &head.name).await?,
            seed: None,
            identity: caller.identity.clone(),
            broker: broker::environment(store, name).await?,
            charts: deployments::objects(store, name).await?.charts,
            capabilities: None,
            view: View::As(caller.identity.clone()),
            looker: None,
        };
        let latest = Latest {
            manifest: head.name.clone(),
            resolved: head.resolved_types.clone(),
        };
        let record = choice::record(store, name, Some(&latest)).await?;
        let choice = Choice::Instead(record, target.instead(true));
        let deadline = Instant::now() + self.timeout;
        let expanded = self
            .expansions
            .expand(&subject, dependent.input.clone(), &choice, deadline)
            .await;
        // The secrets of the current and of the new manifest.
        let mut secrets = manifests::secrets_in_use(store, deployment).await?;
        let expansion = match expanded {
            Ok(expanded) => expanded.expansion,
            Err(mut error) => {
                redacting::prepared(secrets).await.error(&mut error);
                dependent.rename(&mut error);
                return Ok(Err(error));
            }
        };
        secrets.extend(expansion.secrets);
        let before = manifests::expansion(store, name, &head.name).await?;
        let after = expansion.expanded_config.resources;
        let compared = move || {
            let mut compared = compare::resources(&before.resources, &after);
            Redaction::new(secrets).diffs(&mut compared);
            compared
        };
        Ok(Ok(work::large(compared).await))
    }
}

fn item(
    deployment: &DeploymentName,
    uses: Vec<TemplateUse>,
    outcome: WhatIfOutcome,
    may: UpgradePermissions,
) -> WhatIfItem {
    WhatIfItem {
        deployment: deployment.clone(),
        outcome,
        uses,
        summary: DiffSummary::default(),
        resources: Vec::new(),
        error: None,
        may,
    }
}

/// The item with what is different, or with the reason why it fails.
fn compared_item(
    unknown: WhatIfItem,
    compared: Result<Vec<ResourceDiff>, Box<ErrorBody>>,
    full: bool,
) -> WhatIfItem {
    let mut resources = match compared {
        Ok(resources) => resources,
        Err(error) => {
            return WhatIfItem {
                error: Some(*error),
                ..unknown
            };
        }
    };
    let summary = DiffSummary::summarize(&resources);
    let outcome = match summary.is_change() {
        true => WhatIfOutcome::Changed,
        false => WhatIfOutcome::Unchanged,
    };
    resources.retain(|resource| full && resource.intent != ResourceIntent::None);
    WhatIfItem {
        outcome,
        summary,
        resources,
        ..unknown
    }
}
