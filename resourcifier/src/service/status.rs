//! How recorded objects are, and where they differ from what their deployment asks for.

use std::collections::HashMap;
use std::sync::Arc;

use common::api::deployer::{ObjectState, ObjectStatus, StatusRequest};
use common::api::error::ErrorBody;
use common::model::{AppliedObject, ObjectRef};
use futures::StreamExt;
use serde_json::Value;

use super::{Deployer, LOOK};
use crate::apply::readiness::{self, Readiness};
use crate::apply::{self, AT_ONCE, BATCH, Drift, Secrets};
use crate::kubectl::{Kubectl, KubectlError, ObjectFault, Outcomes};
use crate::plan::{self, Catalog, Desired, Plan};

/// Objects that others are asked about: each costs some calls.
const ASKED: usize = 200;

impl Deployer {
    /// The live state of recorded objects, in their order.
    pub async fn status(&self, request: StatusRequest) -> Result<Vec<ObjectStatus>, ErrorBody> {
        let kubectl = self.kubectl(request.on_behalf_of.as_ref())?;
        let (catalog, plan) = self.planned(&request).await?;
        let mut lives = Vec::with_capacity(request.objects.len());
        for batch in request.objects.chunks(BATCH) {
            lives.extend(read(&*kubectl, batch, &catalog).await);
        }
        let statuses = request.objects.iter().zip(&lives);
        let mut statuses: Vec<ObjectStatus> = statuses
            .map(|(applied, live)| status(applied, live))
            .collect();
        ask_others(&*kubectl, &lives, &mut statuses).await;
        if let (Some(desired), Some(plan)) = (&request.desired, plan) {
            let secrets = Secrets::default();
            secrets.spare(&plan);
            let drift = Drift {
                kubectl: &*kubectl,
                deployment: &desired.deployment,
                within: LOOK,
                secrets: &secrets,
            };
            look_for_drift(drift, &plan, &lives, &mut statuses).await;
            secrets.hide_in_statuses(&mut statuses);
        }
        Ok(statuses)
    }

    /// What is served, and, where drift is looked for, what is asked for.
    async fn planned(
        &self,
        request: &StatusRequest,
    ) -> Result<(Arc<Catalog>, Option<Plan>), ErrorBody> {
        let Some(desired) = &request.desired else {
            let objects = request.objects.iter().map(|applied| applied.object.clone());
            let objects: Vec<ObjectRef> = objects.collect();
            return Ok((self.discovery.catalog_of(&objects).await?, None));
        };
        let wanted = plan::wanted(&desired.resources);
        let catalog = self.discovery.catalog(&wanted).await?;
        let desired = Desired {
            deployment: &desired.deployment,
            namespace: &desired.namespace,
            resources: &desired.resources,
            outputs: &[],
            policies: desired.policies,
        };
        let plan = plan::plan(desired, &catalog)?;
        Ok((catalog, Some(plan)))
    }
}

async fn read(
    kubectl: &dyn Kubectl,
    batch: &[AppliedObject],
    catalog: &Catalog,
) -> Outcomes<Option<Value>> {
    let served: Vec<Option<ObjectRef>> = batch
        .iter()
        .map(|applied| catalog.served(&applied.object))
        .collect();
    let objects: Vec<ObjectRef> = served.iter().flatten().cloned().collect();
    let outcomes = apply::each(kubectl, &objects, LOOK).await;
    let mut outcomes = outcomes.into_iter();
    served
        .iter()
        .map(|object| {
            let outcome = object.as_ref().and_then(|_| outcomes.next());
            outcome.unwrap_or(Ok(None))
        })
        .collect()
}

/// What others say about those that are not ready.
async fn ask_others(
    kubectl: &dyn Kubectl,
    lives: &Outcomes<Option<Value>>,
    statuses: &mut [ObjectStatus],
) {
    let waiting = statuses
        .iter()
        .enumerate()
        .filter(|(_, status)| status.state == ObjectState::NotReady);
    let waiting =
        waiting.filter_map(|(place, _)| Some((place, lives[place].as_ref().ok()?.as_ref()?)));
    let calls: Vec<_> = waiting
        .take(ASKED)
        .map(async |(place, live)| (place, apply::evidence(kubectl, live).await))
        .collect();
    let verdicts: Vec<_> = futures::stream::iter(calls)
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    for (place, verdict) in verdicts {
        if let Some(verdict) = verdict {
            (statuses[place].state, statuses[place].reason) = told(verdict);
        }
    }
}

/// Fills in the drift of each object that is there and asked for.
async fn look_for_drift(
    drift: Drift<'_>,
    plan: &Plan,
    lives: &Outcomes<Option<Value>>,
    statuses: &mut [ObjectStatus],
) {
    let places = places(plan, statuses);
    let live_of = |node: usize| {
        let place = places.get(&node)?;
        lives[*place].as_ref().ok()?.as_ref()
    };
    let is_there = |status: &ObjectStatus| {
        !matches!(status.state, ObjectState::Missing | ObjectState::Replaced)
    };
    let calls: Vec<_> = places
        .iter()
        .filter(|(_, place)| is_there(&statuses[**place]))
        .filter_map(|(&node, &place)| Some((node, place, live_of(node)?)))
        .map(async |(node, place, live)| {
            let found = drift.of(&plan.nodes[node], live, &live_of).await;
            (place, found)
        })
        .collect();
    let found: Vec<_> = futures::stream::iter(calls)
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    for (place, found) in found {
        match found {
            Ok(changes) => statuses[place].drift = changes,
            Err(error) => {
                let reason = statuses[place].reason.take().map(|reason| reason + "; ");
                statuses[place].reason = Some(format!(
                    "{}whether it has drifted cannot be told: {error}",
                    reason.unwrap_or_default()
                ));
            }
        }
    }
}

/// Where the object of each node stands among the recorded ones.
fn places(plan: &Plan, statuses: &[ObjectStatus]) -> HashMap<usize, usize> {
    let recorded: HashMap<_, usize> = statuses
        .iter()
        .enumerate()
        .map(|(place, status)| (status.applied.object.identity(), place))
        .collect();
    let nodes = plan.nodes.iter().enumerate();
    nodes
        .filter_map(|(node, one)| Some((node, *recorded.get(&one.object.identity())?)))
        .collect()
}

fn status(applied: &AppliedObject, live: &Result<Option<Value>, KubectlError>) -> ObjectStatus {
    let (state, reason) = match live {
        Err(error) if error.fault() == Some(ObjectFault::Unserved) => (
            ObjectState::Missing,
            Some("the cluster does not serve its kind any more".to_owned()),
        ),
        Err(error) => (
            ObjectState::NotReady,
            Some(format!("it cannot be read: {error}")),
        ),
        Ok(None) => (
            ObjectState::Missing,
            Some("the cluster has no such object".to_owned()),
        ),
        Ok(Some(live)) if apply::uid(live) != Some(&applied.uid) => (
            ObjectState::Replaced,
            Some("another object has taken its name".to_owned()),
        ),
        Ok(Some(live)) => told(readiness::of(live)),
    };
    ObjectStatus {
        applied: applied.clone(),
        state,
        reason,
        drift: Vec::new(),
    }
}

fn told(verdict: Readiness) -> (ObjectState, Option<String>) {
    match verdict {
        Readiness::Ready => (ObjectState::Ready, None),
        Readiness::Waiting(reason) => (ObjectState::NotReady, Some(reason)),
        Readiness::Failed(reason) => (ObjectState::Failed, Some(reason)),
    }
}
