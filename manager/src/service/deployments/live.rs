//! Deployments as they are in the cluster. The cluster is read with the caller's rights, so callers see only what they
//! may read there.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use common::api::deployer::{
    ApplyRequest, DesiredState, ObjectState, ObjectStatus, Policies, StatusRequest,
};
use common::api::manager::{Graph, GraphEdge, GraphNode, LiveResource, Resources, ResourcesQuery};
use common::api::page::{Page, items};
use common::model::limits::LIVE_ITEMS_MAX;
use common::model::{AppliedObject, Configuration, Deployment, DeploymentName, Identity};
use common::work;

use super::missing;
use crate::auth::Caller;
use crate::deployer::Deployers;
use crate::domain::operation::correction;
use crate::domain::redaction::Redaction;
use crate::error::Error;
use crate::store::manifests::FinalProperties;
use crate::store::{Store, StoreError, deployments, manifests};
use crate::workflow::expansion::redacting;

/// The time for reading the live state: one list call for each kind and, for drift, a dry run of each changed object.
const STATUS: Duration = Duration::from_secs(60);

pub struct LiveState {
    pub store: Store,
    pub deployers: Arc<dyn Deployers>,
}

impl LiveState {
    /// A page of the deployment's recorded objects, with their live state.
    pub async fn resources(
        &self,
        name: &DeploymentName,
        query: &ResourcesQuery,
        caller: &Caller,
    ) -> Result<Resources, Error> {
        let deployment = self.deployment(name).await?;
        let recorded = deployments::objects(&self.store, name).await?.recorded;
        let page = page_of(recorded, query)?;
        let redaction = self.redaction(&deployment).await?;
        let statuses = self
            .status(
                &deployment,
                page.items,
                query.drift.unwrap_or(true),
                caller.identity.clone(),
            )
            .await
            .map_err(|error| match error {
                Error::Refused(body) => Error::Refused(redaction.refusal(body)),
                error => error,
            })?;
        let known = self.final_properties(&deployment).await?;
        let items = work::large(move || redacted_resources(statuses, &known, &redaction));
        Ok(Page {
            items: items.await,
            next_page_token: page.next_page_token,
        })
    }

    /// The state of the objects as `acting` sees them and, if asked for, their differences from the latest manifest.
    pub async fn status(
        &self,
        deployment: &Deployment,
        objects: Vec<AppliedObject>,
        drift: bool,
        acting: Option<Identity>,
    ) -> Result<Vec<ObjectStatus>, Error> {
        if objects.is_empty() {
            return Ok(Vec::new());
        }
        let desired = match drift {
            true => self.desired(deployment).await?,
            false => None,
        };
        let request = Arc::new(StatusRequest {
            deployment: Some(deployment.name.clone()),
            objects,
            desired,
            on_behalf_of: acting,
        });
        let deployer = self.deployers.of(&deployment.cluster);
        Ok(deployer.status(request, STATUS).await?)
    }

    /// Which resource waits for which, in the latest manifest, or in the preview if there is no manifest yet.
    pub async fn graph(&self, name: &DeploymentName, caller: &Caller) -> Result<Graph, Error> {
        let deployment = self.deployment(name).await?;
        let shown = deployment
            .latest_manifest
            .as_ref()
            .or(deployment.preview.as_ref());
        let Some(manifest) = shown else {
            return Ok(Graph::default());
        };
        let resources = manifests::expansion(&self.store, name, manifest)
            .await?
            .resources;
        let request = Arc::new(ApplyRequest {
            deployment: name.clone(),
            namespace: deployment.namespace.clone(),
            resources,
            recorded: Vec::new(),
            policies: Policies::default(),
            expected: Vec::new(),
            restore_acquired: false,
            allow_deletes: false,
            create_namespace: false,
            preflight: false,
            hooks: None,
            predecessor: None,
            on_behalf_of: caller.identity.clone(),
            outputs: Vec::new(),
            timeout_ms: u64::try_from(STATUS.as_millis()).unwrap_or(u64::MAX),
            fence: None,
        });
        let redaction = self.redaction(&deployment).await?;
        let deployer = self.deployers.of(&deployment.cluster);
        let checked = deployer.check(request.clone(), STATUS).await;
        let checked = checked.map_err(|error| redaction.refusal(error.into()))?;
        let nodes = Arc::unwrap_or_clone(request)
            .resources
            .into_iter()
            .zip(checked.objects);
        let nodes = nodes.map(|(resource, object)| GraphNode {
            name: resource.name,
            type_name: resource.type_name,
            object,
            state: None,
            reason: None,
        });
        let edges = checked.edges.into_iter().map(|edge| GraphEdge {
            from: edge.resource,
            to: edge.on,
            because: edge.because,
            detail: edge.detail,
        });
        Ok(Graph {
            nodes: nodes.collect(),
            edges: edges.collect(),
        })
    }

    /// The graph with the present state of each node.
    pub async fn live_graph(&self, name: &DeploymentName, caller: &Caller) -> Result<Graph, Error> {
        let mut graph = self.graph(name, caller).await?;
        let deployment = self.deployment(name).await?;
        let recorded = deployments::objects(&self.store, name).await?.recorded;
        let redaction = self.redaction(&deployment).await?;
        let acting = caller.identity.clone();
        let statuses = self.status(&deployment, recorded, false, acting).await?;
        let work = move || {
            let mut statuses = statuses;
            for status in &mut statuses {
                redaction.status(status);
            }
            let known = statuses
                .iter()
                .map(|status| (status.applied.object.identity(), status));
            let known: HashMap<_, _> = known.collect();
            for node in &mut graph.nodes {
                let status = known.get(&node.object.identity());
                node.state = status.map(|status| status.state);
                node.reason = status.and_then(|status| status.reason.clone());
            }
            graph
        };
        Ok(work::large(work).await)
    }

    async fn redaction(&self, deployment: &Deployment) -> Result<Redaction, StoreError> {
        let secrets = manifests::secrets_in_use(&self.store, deployment).await?;
        Ok(redacting::prepared(secrets).await)
    }

    async fn deployment(&self, name: &DeploymentName) -> Result<Deployment, Error> {
        let found = deployments::get(&self.store, name).await?;
        found.ok_or_else(|| missing(name))
    }

    async fn desired(&self, deployment: &Deployment) -> Result<Option<DesiredState>, StoreError> {
        let Some(latest) = &deployment.latest_manifest else {
            return Ok(None);
        };
        let Configuration { resources, .. } =
            manifests::expansion(&self.store, &deployment.name, latest).await?;
        let objects = deployments::objects(&self.store, &deployment.name).await?;
        Ok(Some(DesiredState {
            deployment: deployment.name.clone(),
            namespace: deployment.namespace.clone(),
            resources,
            policies: correction::policies(objects.policies),
        }))
    }

    async fn final_properties(
        &self,
        deployment: &Deployment,
    ) -> Result<Vec<FinalProperties>, StoreError> {
        match &deployment.latest_manifest {
            Some(latest) => {
                manifests::final_properties(&self.store, &deployment.name, latest).await
            }
            None => Ok(Vec::new()),
        }
    }
}

/// The objects as a caller may see them, each with the properties that it was applied with.
fn redacted_resources(
    statuses: Vec<ObjectStatus>,
    known: &[FinalProperties],
    redaction: &Redaction,
) -> Vec<LiveResource> {
    let properties = known
        .iter()
        .map(|known| (known.object.identity(), &known.properties));
    let properties: HashMap<_, _> = properties.collect();
    let live = |mut status: ObjectStatus| {
        redaction.status(&mut status);
        let final_properties = properties.get(&status.applied.object.identity());
        let mut final_properties = final_properties.map(|found| (*found).clone());
        if let Some(properties) = &mut final_properties {
            redaction.value(properties);
        }
        LiveResource {
            final_properties,
            ready: status.state == ObjectState::Ready,
            status,
        }
    };
    statuses.into_iter().map(live).collect()
}

/// The record is ordered, so the token is a position in it.
fn page_of(
    recorded: Vec<AppliedObject>,
    query: &ResourcesQuery,
) -> Result<Page<AppliedObject>, StoreError> {
    if query.limit == Some(0) {
        return Err(StoreError::PageLimit);
    }
    let token = query
        .page_token
        .as_deref()
        .filter(|token| !token.is_empty());
    let start = match token {
        Some(token) => token.parse::<usize>().map_err(|_| StoreError::PageToken)?,
        None => 0,
    };
    let limit = items(query.limit, LIVE_ITEMS_MAX);
    let (total, end) = (recorded.len(), start.saturating_add(limit));
    Ok(Page {
        items: recorded.into_iter().skip(start).take(limit).collect(),
        next_page_token: (end < total).then(|| end.to_string()),
    })
}
