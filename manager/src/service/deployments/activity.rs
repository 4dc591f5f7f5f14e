//! What happens around a deployment's objects: events and logs. The cluster is read with the caller's rights.
//!
//! Values that the deployment hides are hidden here too.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use common::api::activity::{
    ClusterEvents, EVENTS, EventsQuery, EventsRequest, LogItem, LogsQuery, LogsRequest, TAIL,
    TAIL_MAX,
};
use common::api::error::{ErrorBody, ErrorCode};
use common::model::{AppliedObject, Deployment, DeploymentName, ResourceName};
use futures::StreamExt;
use futures::stream::BoxStream;

use super::missing;
use crate::auth::Caller;
use crate::deployer::Deployers;
use crate::domain::redaction::Redaction;
use crate::error::Error;
use crate::store::{Store, deployments, manifests};
use crate::workflow::Engine;
use crate::workflow::engine::watch::WatchEvent;
use crate::workflow::expansion::redacting;

/// The time for reading events: some lists for each namespace.
const READ: Duration = Duration::from_secs(60);

/// The pieces of logs. An error is the last one.
pub type LogItems = BoxStream<'static, LogItem>;

pub struct Activity {
    pub store: Store,
    pub deployers: Arc<dyn Deployers>,
    pub engine: Engine,
}

impl Activity {
    /// The newest events, the newest last.
    pub async fn events(
        &self,
        name: &DeploymentName,
        query: EventsQuery,
        caller: &Caller,
    ) -> Result<ClusterEvents, Error> {
        let (deployment, objects) = self.objects(name, query.resource.as_ref()).await?;
        if query.limit == Some(0) {
            return Err(Error::new(
                ErrorCode::InvalidRequest,
                "limit must be 1 or more",
            ));
        }
        if objects.is_empty() {
            return Ok(ClusterEvents::default());
        }
        let request = Arc::new(EventsRequest {
            deployment: deployment.name.clone(),
            objects,
            limit: query.limit.unwrap_or(EVENTS),
            on_behalf_of: caller.identity.clone(),
        });
        let redaction = self.redaction(&deployment).await?;
        let deployer = self.deployers.of(&deployment.cluster);
        let found = deployer.events(request, READ).await;
        let found = found.map_err(|error| redaction.refusal(error.into()))?;
        Ok(redacting::redacted(&redaction, found, hide_in_events).await)
    }

    /// The logs of the deployment's containers. The first item is never an error: that is the answer instead.
    pub async fn logs(
        &self,
        name: &DeploymentName,
        query: LogsQuery,
        caller: &Caller,
    ) -> Result<LogItems, Error> {
        let (deployment, objects) = self.objects(name, query.resource.as_ref()).await?;
        let request = request(deployment.name.clone(), objects, query, caller);
        let redaction = self.redaction(&deployment).await?;
        let deployer = self.deployers.of(&deployment.cluster);
        let mut logs = deployer.logs(Arc::new(request)).await?;
        let first = match logs.next().await {
            Some(Ok(LogItem::Error { error })) => {
                return Err(redaction.refusal(Box::new(error)).into());
            }
            Some(first) => Some(Ok(first?)),
            None => None,
        };
        let all = futures::stream::iter(first).chain(logs);
        Ok(all
            .map(|item| {
                item.unwrap_or_else(|error| LogItem::Error {
                    error: *Box::<ErrorBody>::from(error),
                })
            })
            .map(move |item| hidden(&redaction, item))
            .boxed())
    }

    /// What a running operation has made so far. It is recorded when the operation ends.
    async fn unrecorded(&self, name: &DeploymentName) -> Result<Vec<AppliedObject>, Error> {
        let holder = deployments::holder(&self.store, name).await?;
        let Some(handle) = holder.and_then(|id| self.engine.handle(&id)) else {
            return Ok(Vec::new());
        };
        let (watch, mut next, mut made) = (handle.watch(), 0, HashMap::new());
        while let Some((number, event)) = watch.event(next) {
            next = number + 1;
            if let WatchEvent::Resource(report) = event
                && let (Some(object), Some(uid)) = (&report.object, &report.uid)
            {
                let object = AppliedObject {
                    resource: report.name.clone(),
                    object: object.clone(),
                    uid: uid.clone(),
                };
                made.insert(uid.clone(), object);
            }
        }
        Ok(made.into_values().collect())
    }

    /// The objects of the deployment, or those of one resource.
    async fn objects(
        &self,
        name: &DeploymentName,
        resource: Option<&ResourceName>,
    ) -> Result<(Deployment, Vec<AppliedObject>), Error> {
        let found = deployments::get(&self.store, name).await?;
        let deployment = found.ok_or_else(|| missing(name))?;
        let mut objects = deployments::objects(&self.store, name).await?.recorded;
        for made in self.unrecorded(name).await? {
            if objects.iter().all(|known| known.uid != made.uid) {
                objects.push(made);
            }
        }
        if let Some(resource) = resource {
            objects.retain(|applied| applied.resource == *resource);
            if objects.is_empty() {
                return Err(no_resource(name, resource));
            }
        }
        Ok((deployment, objects))
    }

    async fn redaction(&self, deployment: &Deployment) -> Result<Redaction, Error> {
        let secrets = manifests::secrets_in_use(&self.store, deployment).await?;
        Ok(redacting::prepared(secrets).await)
    }
}

fn request(
    deployment: DeploymentName,
    objects: Vec<AppliedObject>,
    query: LogsQuery,
    caller: &Caller,
) -> LogsRequest {
    LogsRequest {
        deployment,
        objects,
        container: query.container.filter(|name| !name.is_empty()),
        previous: query.previous.unwrap_or_default(),
        follow: query.follow.unwrap_or_default(),
        tail: query.tail.unwrap_or(TAIL).min(TAIL_MAX),
        on_behalf_of: caller.identity.clone(),
    }
}

fn no_resource(name: &DeploymentName, resource: &ResourceName) -> Error {
    let message = format!(
        "deployment '{name}' has applied no resource '{resource}'; `dm status {name}` lists its resources"
    );
    Error::new(ErrorCode::NotFound, message)
}

fn hide_in_events(redaction: &Redaction, found: &mut ClusterEvents) {
    for event in &mut found.items {
        redaction.text(&mut event.message);
    }
    redaction.texts(&mut found.notices);
}

fn hidden(redaction: &Redaction, mut item: LogItem) -> LogItem {
    match &mut item {
        LogItem::Line(line) => redaction.text(&mut line.text),
        LogItem::Notice(notice) => redaction.text(&mut notice.message),
        LogItem::Error { error } => redaction.error(error),
        LogItem::Heartbeat => {}
    }
    item
}
