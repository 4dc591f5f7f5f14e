//! The state of recorded objects, and their drift.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use common::api::deployer::{ObjectState, ObjectStatus, StatusRequest};
use common::api::error::ErrorBody;
use common::model::{AppliedObject, DeploymentName, ObjectRef};
use common::work;
use futures::StreamExt;
use serde_json::Value;

use super::{Deployer, LOOK};
use crate::apply::readiness::{self, Readiness};
use crate::apply::{self, AT_ONCE, BATCH, Deadline, Drift, Secrets, Source, is_unchanged};
use crate::kubectl::{ClusterApi, KubectlError, ObjectFault};
use crate::plan::{self, Catalog, Desired, Node, Plan};

/// The deadline of the whole request.
const STATUS: Duration = Duration::from_secs(60);
/// Objects whose related objects are read as well. Each costs some calls.
const ASKED: usize = 200;

impl Deployer {
    /// The live state of recorded objects, in their order.
    pub async fn status(&self, request: StatusRequest) -> Result<Vec<ObjectStatus>, ErrorBody> {
        let kubectl = self.kubectl(request.on_behalf_of.as_ref())?;
        let (catalog, plan) = self.planned(&request).await?;
        let wanted = Wanted::new(&request, plan.as_ref());
        let mut seen = Seen::default();
        let mut found = |place: usize, outcome| seen.take(&wanted, place, outcome);
        match wanted.deployment {
            Some(deployment) => {
                let source = Source {
                    kubectl: &*kubectl,
                    catalog: &catalog,
                    deployment,
                    deadline: Deadline::of(STATUS),
                };
                read(source, &request.objects, &mut found).await;
            }
            None => read_each(&*kubectl, &catalog, &request.objects, &mut found).await,
        }
        let Seen { lives, statuses } = seen;
        let mut statuses: Vec<ObjectStatus> = statuses.into_values().collect();
        ask_others(&*kubectl, &lives, &mut statuses).await;
        if let (Some(desired), Some(plan)) = (&request.desired, &plan) {
            let secrets = Arc::<Secrets>::default();
            secrets.spare(plan);
            let drift = Drift {
                kubectl: &*kubectl,
                deployment: &desired.deployment,
                within: LOOK,
                secrets: &secrets,
            };
            look_for_drift(drift, &wanted, plan, &lives, &mut statuses).await;
            let hide = |secrets: &Secrets, all: &mut Vec<_>| secrets.hide_in_statuses(all);
            statuses = Secrets::hidden_in(&secrets, statuses, hide).await;
        }
        Ok(statuses)
    }

    /// The served kinds, and, if drift is requested, the desired objects.
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
        let (desired, served) = (desired.clone(), catalog.clone());
        let plan = work::sized(super::size(&desired.resources), move || {
            let desired = Desired {
                deployment: &desired.deployment,
                namespace: &desired.namespace,
                resources: &desired.resources,
                outputs: &[],
                policies: desired.policies,
            };
            plan::plan(desired, &served)
        });
        Ok((catalog, Some(plan.await?)))
    }
}

/// The deployment of the objects, if the request names it.
fn deployment(request: &StatusRequest) -> Option<&DeploymentName> {
    let desired = request.desired.as_ref();
    let desired = desired.map(|desired| &desired.deployment);
    request.deployment.as_ref().or(desired)
}

/// The objects of the request, and their desired state.
struct Wanted<'a> {
    objects: &'a [AppliedObject],
    deployment: Option<&'a DeploymentName>,
    manager: String,
    /// The desired state of each object, if there is one.
    nodes: Vec<Option<&'a Node>>,
    /// The objects of resources, by their index in the plan.
    places: HashMap<usize, usize>,
    /// Whether others refer to the values of the object.
    is_referenced: Vec<bool>,
    /// Hooks run and may go. What they were is no drift.
    is_hook: Vec<bool>,
}

impl<'a> Wanted<'a> {
    fn new(request: &'a StatusRequest, plan: Option<&'a Plan>) -> Self {
        let objects = request.objects.as_slice();
        let recorded = objects.iter().map(|applied| applied.object.identity());
        let recorded: HashMap<_, usize> = recorded.zip(0..).collect();
        let mut wanted = Self {
            objects,
            deployment: deployment(request),
            manager: String::new(),
            nodes: vec![None; objects.len()],
            places: HashMap::new(),
            is_referenced: vec![false; objects.len()],
            is_hook: vec![false; objects.len()],
        };
        let (Some(plan), Some(desired)) = (plan, &request.desired) else {
            return wanted;
        };
        wanted.manager = plan::field_manager(&desired.deployment);
        for (index, node) in plan.nodes.iter().enumerate() {
            if let Some(&place) = recorded.get(&node.object.identity()) {
                wanted.is_hook[place] = node.metadata.hook.is_some();
                if node.metadata.hook.is_some() || node.metadata.is_shared() {
                    continue;
                }
                wanted.nodes[place] = Some(node);
                wanted.places.insert(index, place);
            }
        }
        for reference in plan.nodes.iter().flat_map(|node| &node.references) {
            if let Some(&place) = wanted.places.get(&reference.target) {
                wanted.is_referenced[place] = true;
            }
        }
        wanted
    }

    /// Whether the live object alone shows that there is no drift.
    fn is_as_asked(&self, place: usize, live: &Value) -> bool {
        let is_same = |node: &Node| {
            node.references.is_empty() && is_unchanged(&node.template, live, &self.manager)
        };
        self.nodes[place].is_none_or(is_same)
    }
}

/// The states of the objects, and the indices of those that need more requests.
#[derive(Default)]
struct Seen {
    statuses: BTreeMap<usize, ObjectStatus>,
    lives: HashMap<usize, Value>,
}

impl Seen {
    fn take(
        &mut self,
        wanted: &Wanted<'_>,
        place: usize,
        outcome: Result<Option<Value>, KubectlError>,
    ) {
        let mut status = status(&wanted.objects[place], &outcome, wanted.deployment);
        if wanted.is_hook[place] && status.state == ObjectState::Missing {
            status.state = ObjectState::Ready;
            status.reason = Some("it has run, and its object is gone".to_owned());
        }
        let is_ready = status.state == ObjectState::Ready;
        self.statuses.insert(place, status);
        if let Ok(Some(live)) = outcome {
            let is_settled =
                is_ready && !wanted.is_referenced[place] && wanted.is_as_asked(place, &live);
            if !is_settled {
                self.lives.insert(place, live);
            }
        }
    }
}

type Found<'f> = &'f mut (dyn FnMut(usize, Result<Option<Value>, KubectlError>) + Send);

/// Each object once, in any order.
async fn read(source: Source<'_>, objects: &[AppliedObject], found: Found<'_>) {
    let (served, places) = served(source.catalog, objects, found);
    let mut of_served = |place: usize, outcome| found(places[place], outcome);
    apply::many(source, &served, &mut of_served).await;
}

/// The same without a deployment, so without its label.
async fn read_each(
    kubectl: &dyn ClusterApi,
    catalog: &Catalog,
    objects: &[AppliedObject],
    found: Found<'_>,
) {
    let (served, places) = served(catalog, objects, found);
    let mut places = places.into_iter();
    for batch in served.chunks(BATCH) {
        let outcomes = apply::each(kubectl, batch, LOOK).await;
        for (place, outcome) in places.by_ref().zip(outcomes) {
            found(place, outcome);
        }
    }
}

/// The objects whose kind is served, with their indices. The others do not exist.
fn served(
    catalog: &Catalog,
    objects: &[AppliedObject],
    found: Found<'_>,
) -> (Vec<ObjectRef>, Vec<usize>) {
    let (mut served, mut places) = (Vec::new(), Vec::new());
    for (place, applied) in objects.iter().enumerate() {
        match catalog.served(&applied.object) {
            None => found(place, Ok(None)),
            Some(object) => {
                served.push(object);
                places.push(place);
            }
        }
    }
    (served, places)
}

/// The related objects of those that are not ready.
async fn ask_others(
    kubectl: &dyn ClusterApi,
    lives: &HashMap<usize, Value>,
    statuses: &mut [ObjectStatus],
) {
    let waiting = statuses
        .iter()
        .enumerate()
        .filter(|(_, status)| status.state == ObjectState::NotReady);
    let waiting = waiting.filter_map(|(place, _)| Some((place, lives.get(&place)?)));
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
            (statuses[place].state, statuses[place].reason) = object_state(verdict);
        }
    }
}

/// Adds the drift of each object that exists and has a desired state.
async fn look_for_drift(
    drift: Drift<'_>,
    wanted: &Wanted<'_>,
    plan: &Plan,
    lives: &HashMap<usize, Value>,
    statuses: &mut [ObjectStatus],
) {
    let live_of = |node: usize| lives.get(wanted.places.get(&node)?);
    let is_there = |status: &ObjectStatus| {
        !matches!(status.state, ObjectState::Missing | ObjectState::Replaced)
    };
    let mut nodes: Vec<(usize, usize)> = wanted
        .places
        .iter()
        .map(|(&node, &place)| (node, place))
        .filter(|(_, place)| is_there(&statuses[*place]))
        .collect();
    nodes.sort_unstable();
    let calls: Vec<_> = nodes
        .into_iter()
        .filter_map(|(node, place)| Some((node, place, live_of(node)?)))
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
                    "{}drift cannot be determined: {error}",
                    reason.unwrap_or_default()
                ));
            }
        }
    }
}

/// `deployment`: the owner of the objects, if it is known. The record may be older than an object of it.
fn status(
    applied: &AppliedObject,
    live: &Result<Option<Value>, KubectlError>,
    deployment: Option<&DeploymentName>,
) -> ObjectStatus {
    let is_ours = |live: &Value| match deployment {
        Some(deployment) => apply::is_ours(live, deployment, &applied.uid),
        None => apply::uid(live) == Some(&applied.uid),
    };
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
        Ok(Some(live)) if !is_ours(live) => (
            ObjectState::Replaced,
            Some("another object has taken its name".to_owned()),
        ),
        Ok(Some(live)) => object_state(readiness::of(live)),
    };
    ObjectStatus {
        applied: applied.clone(),
        state,
        reason,
        drift: Vec::new(),
    }
}

fn object_state(verdict: Readiness) -> (ObjectState, Option<String>) {
    match verdict {
        Readiness::Ready => (ObjectState::Ready, None),
        Readiness::Waiting(reason) => (ObjectState::NotReady, Some(reason)),
        Readiness::Failed(reason) => (ObjectState::Failed, Some(reason)),
    }
}
