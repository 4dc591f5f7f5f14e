//! A deployer with a cluster in memory. What it does to a resource goes by the resource's name.

mod live;
mod slow;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use common::api::activity::{
    ClusterEvent, ClusterEvents, EventKind, EventsRequest, LogItem, LogLine, LogNotice, LogsRequest,
};
use common::api::cluster::{Capabilities, LookupAnswer, LookupRequest};
use common::api::deployer::*;
use common::api::error::{ErrorBody, ErrorCode, Location};
use common::api::export::{ExportRequest, Exported};
use common::api::job::{JobsStopped, Renewal, StopJobs};
use common::api::plan::{EditRequest, Edited, LookedUp, SourcesRequest};
use common::api::review::{AccessReview, AccessVerdict, TokenReview, TokenVerdict};
use common::canonical;
use common::model::{AppliedObject, Identity, ObjectRef, Resource, ResourceName, TypeName};
use common::server::observe::health::Check;
use futures::StreamExt;
use serde_json::Value;

use super::{Deployer, Events, Job, Logs};
use crate::dependency::CallError;
use live::Live;
pub use slow::Slow;

/// Resources of these names are refused, and never ready.
pub const REFUSED: &str = "refused";
pub const SLOW: &str = "slow";
/// Resources of this name cannot even be planned.
pub const UNKNOWN: &str = "unknown";

#[derive(Debug, Default)]
pub struct FakeDeployer {
    cluster: Mutex<BTreeMap<String, Held>>,
    jobs: Mutex<Vec<Job>>,
    interruptions: Mutex<VecDeque<Interruption>>,
    /// Jobs wait until there is a permit.
    gate: Mutex<Option<std::sync::Arc<tokio::sync::Semaphore>>>,
    tokens: Mutex<BTreeMap<String, Identity>>,
    /// What each user may do; everything, where nothing is said.
    grants: Mutex<BTreeMap<String, Vec<Grant>>>,
    /// Reviews that were asked for.
    reviews: AtomicUsize,
    /// Resources whose kind is served no more.
    unserved: Mutex<Vec<String>>,
    /// The last job that goes at the test's pace.
    running: Mutex<Option<Arc<Slow>>>,
    is_several: AtomicBool,
    /// What lookups find.
    pub live: Live,
}

#[derive(Debug, Clone)]
pub enum Interruption {
    /// Nobody answers.
    Away,
    /// The caller lacks permissions, and nothing is touched.
    Denied,
    /// All is done, the stream ends before the report.
    BrokenOff,
    /// All work is done, and no more events follow.
    Stalls,
    /// Each write is one that the test lets happen, as of [`Slow`].
    Slow(Arc<Slow>),
}

impl FakeDeployer {
    pub fn interrupt(&self, interruptions: impl IntoIterator<Item = Interruption>) {
        self.interruptions.lock().unwrap().extend(interruptions);
    }

    /// From now on jobs wait for a permit of the semaphore.
    pub fn hold(&self) -> std::sync::Arc<tokio::sync::Semaphore> {
        let gate = std::sync::Arc::new(tokio::sync::Semaphore::new(0));
        *self.gate.lock().unwrap() = Some(gate.clone());
        gate
    }

    /// Jobs wait no longer.
    pub fn release(&self) {
        *self.gate.lock().unwrap() = None;
    }

    /// From now on its jobs run in processes that do not know of each other.
    pub fn multiply(&self) {
        self.is_several.store(true, Ordering::Relaxed);
    }

    pub fn jobs(&self) -> Vec<Job> {
        self.jobs.lock().unwrap().clone()
    }

    /// From now on the cluster knows the token.
    pub fn know(&self, token: &str, identity: Identity) {
        self.tokens
            .lock()
            .unwrap()
            .insert(token.to_owned(), identity);
    }

    /// From now on the user may do these things only, in this namespace or in all: a verb and a resource, as
    /// `("get", "deployments.apps")`.
    pub fn grant(&self, user: &str, namespace: Option<&str>, grants: &[(&str, &str)]) {
        let grants = grants.iter().map(|(verb, resource)| Grant {
            verb: (*verb).to_owned(),
            resource: (*resource).to_owned(),
            namespace: namespace.map(str::to_owned),
        });
        let mut all = self.grants.lock().unwrap();
        all.insert(user.to_owned(), grants.collect());
    }

    pub fn reviews(&self) -> usize {
        self.reviews.load(Ordering::SeqCst)
    }

    fn properties_of(&self, name: &str) -> String {
        let cluster = self.cluster();
        let held = cluster.get(name);
        held.map(|held| held.properties.to_string())
            .unwrap_or_default()
    }

    fn reviewed(&self) -> Result<(), CallError> {
        self.reviews.fetch_add(1, Ordering::SeqCst);
        let interruption = self.interruptions.lock().unwrap().pop_front();
        match interruption {
            None => Ok(()),
            Some(_) => Err(away()),
        }
    }

    /// What exists, by name.
    pub fn objects(&self) -> Vec<String> {
        self.cluster().keys().cloned().collect()
    }

    /// From now on the kind of the resource is served no more.
    pub fn forget_kind_of(&self, name: &str) {
        self.unserved.lock().unwrap().push(name.to_owned());
    }

    fn is_served(&self, name: &str) -> bool {
        let unserved = self.unserved.lock().unwrap();
        name != UNKNOWN && !unserved.iter().any(|gone| gone == name)
    }

    /// Somebody else changes an object.
    pub fn edit(&self, name: &str, properties: Value) {
        self.cluster().get_mut(name).unwrap().properties = properties;
    }

    /// Somebody else deletes an object.
    pub fn lose(&self, name: &str) {
        self.cluster().remove(name).unwrap();
    }

    pub fn properties(&self, name: &str) -> Value {
        self.cluster()[name].properties.clone()
    }

    fn cluster(&self) -> MutexGuard<'_, BTreeMap<String, Held>> {
        self.cluster.lock().unwrap()
    }

    fn apply(&self, request: &ApplyRequest) -> Result<Report, ErrorBody> {
        if let Some(changed) = request
            .expected
            .iter()
            .find(|basis| self.basis(&basis.object) != **basis)
        {
            let message = format!("{} has changed", changed.object);
            return Err(ErrorBody::new(ErrorCode::PreconditionFailed, message));
        }
        let mut report = Report {
            outputs: request.outputs.clone(),
            ..Report::default()
        };
        for resource in &request.resources {
            let applied = self.apply_one(resource, &mut report.objects);
            report.resources.push(applied);
        }
        for gone in pruned(request) {
            report.resources.push(self.remove(gone));
        }
        Ok(report)
    }

    fn apply_one(&self, resource: &Resource, objects: &mut Vec<AppliedObject>) -> ResourceReport {
        let object = object_of(resource);
        let mut report = ResourceReport {
            name: resource.name.clone(),
            type_name: resource.type_name.clone(),
            object: Some(object.object.clone()),
            uid: Some(object.uid.clone()),
            action: None,
            state: ResourceState::Ready,
            reason: None,
            error: None,
            final_properties: resource.properties.clone(),
            hook: None,
        };
        if resource.name.as_str() == REFUSED {
            let own = resource.properties.as_ref().map(ToString::to_string);
            let message = format!("refused: the cluster says no {}", own.unwrap_or_default());
            let error = ErrorBody::new(ErrorCode::ResourcesFailed, message.trim_end());
            return ResourceReport {
                object: None,
                uid: None,
                state: ResourceState::Failed,
                error: Some(error),
                ..report
            };
        }
        let held = Held {
            applied: object.clone(),
            properties: resource.properties.clone().unwrap_or_default(),
        };
        let before = self
            .cluster()
            .insert(object.object.name.clone(), held.clone());
        report.action = Some(match before {
            None => Action::Created,
            Some(before) if before == held => Action::Unchanged,
            Some(_) => Action::Configured,
        });
        objects.push(object);
        if resource.name.as_str() == SLOW {
            report.state = ResourceState::Failed;
            report.error = Some(ErrorBody::new(
                ErrorCode::Timeout,
                "slow: it is not ready: 0 of 1 replicas",
            ));
        }
        report
    }

    fn remove(&self, object: &AppliedObject) -> ResourceReport {
        self.cluster().remove(&object.object.name);
        ResourceReport {
            name: object.resource.clone(),
            type_name: TypeName::parse(object.object.kind.clone()).unwrap(),
            object: Some(object.object.clone()),
            uid: Some(object.uid.clone()),
            action: Some(Action::Deleted),
            state: ResourceState::Gone,
            reason: None,
            error: None,
            final_properties: None,
            hook: None,
        }
    }

    fn delete(&self, request: &DeleteRequest) -> Report {
        let is_kept = |object: &AppliedObject| request.kept.contains(&object.object);
        let is_served = |resource: &&Resource| self.is_served(resource.name.as_str());
        let unconfirmed = request.unconfirmed.iter().filter(is_served);
        let unconfirmed = unconfirmed.map(object_of).filter(|object| !is_kept(object));
        let resources = request
            .recorded
            .iter()
            .cloned()
            .chain(unconfirmed)
            .map(|object| self.remove(&object));
        Report {
            resources: resources.collect(),
            ..Report::default()
        }
    }

    fn basis(&self, object: &ObjectRef) -> Basis {
        let cluster = self.cluster();
        let held = cluster.get(&object.name);
        Basis {
            object: object.clone(),
            uid: held.map(|held| held.applied.uid.clone()),
            owned: held.map(|held| canonical::digest(&held.properties).to_string()),
        }
    }

    fn differences(&self, request: &ApplyRequest) -> DiffReport {
        let desired = request.resources.iter().map(|resource| {
            let object = object_of(resource).object;
            let changes = self.changes(&object.name, resource);
            let intent = match (self.cluster().get(&object.name), changes.is_empty()) {
                (None, _) => ResourceIntent::Create,
                (Some(_), true) => ResourceIntent::None,
                (Some(_), false) => ResourceIntent::Update,
            };
            self.difference(
                resource.name.clone(),
                &resource.type_name,
                &object,
                intent,
                changes,
            )
        });
        let pruned = pruned(request).map(|old| {
            let kind = TypeName::parse(old.object.kind.clone()).unwrap();
            let (name, intent) = (old.resource.clone(), ResourceIntent::Delete);
            self.difference(name, &kind, &old.object, intent, Vec::new())
        });
        DiffReport {
            resources: desired.chain(pruned).collect(),
        }
    }

    fn difference(
        &self,
        name: ResourceName,
        type_name: &TypeName,
        object: &ObjectRef,
        intent: ResourceIntent,
        changes: Vec<FieldChange>,
    ) -> ResourceDiff {
        ResourceDiff {
            name,
            type_name: type_name.clone(),
            intent,
            basis: self.basis(object),
            changes,
            unknown: Vec::new(),
            missing_permissions: Vec::new(),
            error: None,
        }
    }

    /// The properties of an object that is there, as one field.
    fn changes(&self, name: &str, desired: &Resource) -> Vec<FieldChange> {
        let after = desired.properties.clone().unwrap_or_default();
        let cluster = self.cluster();
        let held = cluster.get(name).filter(|held| held.properties != after);
        let change = |held: &Held| FieldChange {
            path: "properties".to_owned(),
            before: Some(held.properties.clone()),
            after: Some(after.clone()),
        };
        held.map(change).into_iter().collect()
    }

    fn status_of(&self, object: &AppliedObject, desired: Option<&DesiredState>) -> ObjectStatus {
        let is_there = self.cluster().contains_key(&object.object.name);
        let wanted = desired.and_then(|desired| {
            let mut resources = desired.resources.iter();
            resources.find(|resource| resource.name == object.resource)
        });
        ObjectStatus {
            applied: object.clone(),
            state: match is_there {
                true => ObjectState::Ready,
                false => ObjectState::Missing,
            },
            reason: None,
            drift: wanted
                .map(|wanted| self.changes(&object.object.name, wanted))
                .unwrap_or_default(),
        }
    }
}

#[derive(Debug, Clone)]
struct Grant {
    verb: String,
    /// With its group.
    resource: String,
    /// All, if absent.
    namespace: Option<String>,
}

/// An object, with the properties that it was given last.
#[derive(Debug, Clone, PartialEq)]
struct Held {
    applied: AppliedObject,
    properties: Value,
}

fn pruned(request: &ApplyRequest) -> impl Iterator<Item = &AppliedObject> {
    let kept = |old: &AppliedObject| request.resources.iter().any(|new| new.name == old.resource);
    request.recorded.iter().filter(move |old| !kept(old))
}

pub(super) fn object_of(resource: &Resource) -> AppliedObject {
    let object = ObjectRef {
        api_version: "v1".to_owned(),
        kind: resource.type_name.to_string(),
        namespace: Some("default".to_owned()),
        name: resource.name.to_string(),
    };
    AppliedObject {
        resource: resource.name.clone(),
        object,
        uid: format!("uid-{}", resource.name),
    }
}

#[async_trait]
impl Deployer for FakeDeployer {
    async fn check(
        &self,
        request: Arc<ApplyRequest>,
        _: Duration,
    ) -> Result<CheckResponse, CallError> {
        let unknown = |resource: &&Resource| !self.is_served(resource.name.as_str());
        let Some(resource) = request.resources.iter().find(unknown) else {
            let objects = request.resources.iter().map(object_of);
            return Ok(CheckResponse {
                objects: objects.map(|object| object.object).collect(),
                edges: edges(&request.resources),
            });
        };
        let location = Location {
            resource: Some(resource.name.to_string()),
            ..Location::default()
        };
        let message = format!("resource '{}' has an unknown type", resource.name);
        let error = ErrorBody::new(ErrorCode::UnknownType, message).at(location);
        Err(CallError::Refused(Box::new(error)))
    }

    async fn diff(&self, request: Arc<ApplyRequest>) -> Result<Events, CallError> {
        if let Some(Interruption::Away) = self.interruptions.lock().unwrap().pop_front() {
            return Err(away());
        }
        let report = self.differences(&request);
        Ok(futures::stream::iter([Ok(Event::Heartbeat), Ok(Event::Diff(report))]).boxed())
    }

    async fn start(&self, job: &Job) -> Result<Events, CallError> {
        let gate = self.gate.lock().unwrap().clone();
        if let Some(gate) = gate {
            gate.acquire().await.unwrap().forget();
        }
        self.jobs.lock().unwrap().push(job.clone());
        let interruption = self.interruptions.lock().unwrap().pop_front();
        match interruption {
            Some(Interruption::Away) => return Err(away()),
            Some(Interruption::Denied) => {
                let message = "nothing was touched, because of what the caller may not do";
                let error = ErrorBody::new(ErrorCode::PermissionsMissing, message);
                return Ok(futures::stream::iter([Ok(Event::Error { error })]).boxed());
            }
            Some(Interruption::Slow(slow)) => {
                *self.running.lock().unwrap() = Some(slow.clone());
                return Ok(slow.begin(job));
            }
            Some(Interruption::BrokenOff | Interruption::Stalls) | None => {}
        }
        let done = match job {
            Job::Create(request) | Job::Update(request) => self.apply(request),
            Job::Delete(request) => Ok(self.delete(request)),
        };
        let report = match done {
            Ok(report) => report,
            Err(error) => return Ok(futures::stream::iter([Ok(Event::Error { error })]).boxed()),
        };
        let mut events: Vec<_> = report
            .resources
            .iter()
            .cloned()
            .map(Event::Resource)
            .map(Ok)
            .collect();
        match interruption {
            Some(Interruption::BrokenOff) => {
                let error = ErrorBody::new(
                    ErrorCode::DeployerUnavailable,
                    "resourcifier broke off its answer",
                );
                events.push(Err(CallError::Refused(Box::new(error))));
            }
            Some(Interruption::Stalls) => {
                let silence = futures::stream::pending();
                return Ok(futures::stream::iter(events).chain(silence).boxed());
            }
            Some(Interruption::Away | Interruption::Denied | Interruption::Slow(_)) | None => {
                events.push(Ok(Event::Report(report)))
            }
        }
        Ok(futures::stream::iter(events).boxed())
    }

    async fn is_several(&self) -> bool {
        self.is_several.load(Ordering::Relaxed)
    }

    async fn renew(&self, renewal: &Renewal, _: Duration) -> Result<(), CallError> {
        if let Some(running) = &*self.running.lock().unwrap() {
            running.renewed(&renewal.fence);
        }
        Ok(())
    }

    async fn stop(&self, stop: &StopJobs, _: Duration) -> Result<JobsStopped, CallError> {
        let running = self.running.lock().unwrap().clone();
        match running {
            Some(running) => running.stop(stop).await,
            None => Ok(JobsStopped::default()),
        }
    }

    async fn status(
        &self,
        request: Arc<StatusRequest>,
        _: Duration,
    ) -> Result<Vec<ObjectStatus>, CallError> {
        let desired = request.desired.as_ref();
        let states = request
            .objects
            .iter()
            .map(|object| self.status_of(object, desired));
        Ok(states.collect())
    }

    /// What exists of the names that are asked for. A kind without a name has no objects.
    async fn export(
        &self,
        request: Arc<ExportRequest>,
        _: Duration,
    ) -> Result<Exported, CallError> {
        let cluster = self.cluster();
        let selected = request.export.objects.iter();
        let names = selected.filter_map(|one| one.name.as_deref());
        let objects = names.map(|name| {
            let missing = || {
                let body = ErrorBody::new(ErrorCode::NotFound, format!("no object {name}"));
                CallError::Refused(Box::new(body))
            };
            let object = cluster.get(name).ok_or_else(missing)?;
            Ok(object.properties.clone())
        });
        let items = objects.collect::<Result<_, CallError>>()?;
        Ok(Exported { items })
    }

    /// One event for each object.
    async fn events(
        &self,
        request: Arc<EventsRequest>,
        _: Duration,
    ) -> Result<ClusterEvents, CallError> {
        let event = |applied: &AppliedObject| ClusterEvent {
            resource: applied.resource.clone(),
            object: applied.object.clone(),
            kind: EventKind::Warning,
            reason: "Noted".to_owned(),
            message: self.properties_of(&applied.object.name),
            count: 2,
            last_time: None,
        };
        Ok(ClusterEvents {
            items: request
                .objects
                .iter()
                .map(event)
                .take(request.limit)
                .collect(),
            notices: Vec::new(),
        })
    }

    /// One line for each Pod, and a notice for each other object.
    async fn logs(&self, request: Arc<LogsRequest>) -> Result<Logs, CallError> {
        let item = |applied: &AppliedObject| match applied.object.kind.as_str() {
            "Pod" => LogItem::Line(LogLine {
                resource: applied.resource.clone(),
                pod: applied.object.name.clone(),
                container: request.container.clone().unwrap_or("main".to_owned()),
                time: None,
                text: self.properties_of(&applied.object.name),
            }),
            _ => LogItem::Notice(LogNotice {
                resource: Some(applied.resource.clone()),
                pod: None,
                container: None,
                message: format!("tail={} previous={}", request.tail, request.previous),
            }),
        };
        let items: Vec<_> = request.objects.iter().map(item).map(Ok).collect();
        Ok(futures::stream::iter(items).boxed())
    }

    async fn capabilities(&self, _: Duration) -> Result<Capabilities, CallError> {
        Ok(Capabilities {
            kube_version: Some("v1.36.0".to_owned()),
            ..Capabilities::default()
        })
    }

    async fn look_up(
        &self,
        request: Arc<LookupRequest>,
        _: Duration,
    ) -> Result<Vec<LookupAnswer>, CallError> {
        self.live.look_up(&request.lookups)
    }

    async fn lookup(
        &self,
        request: Arc<SourcesRequest>,
        _: Duration,
    ) -> Result<LookedUp, CallError> {
        let cluster = self.cluster();
        let wanted = request.objects.iter();
        let found = wanted.map(|one| cluster.get(&one.name).map(|held| held.properties.clone()));
        Ok(LookedUp {
            objects: found.collect(),
            warnings: Vec::new(),
        })
    }

    async fn edit(&self, request: Arc<EditRequest>, _: Duration) -> Result<Edited, CallError> {
        Ok(Edited {
            edited: request.edits.len(),
        })
    }

    async fn review_token(
        &self,
        review: &TokenReview,
        _: Duration,
    ) -> Result<TokenVerdict, CallError> {
        self.reviewed()?;
        let identity = self
            .tokens
            .lock()
            .unwrap()
            .get(review.token.reveal())
            .cloned();
        Ok(TokenVerdict {
            authenticated: identity.is_some(),
            error: identity
                .is_none()
                .then(|| "the token is not known".to_owned()),
            identity,
        })
    }

    async fn review_access(
        &self,
        review: &AccessReview,
        _: Duration,
    ) -> Result<Vec<AccessVerdict>, CallError> {
        self.reviewed()?;
        let grants = self.grants.lock().unwrap();
        let verdicts = review.attributes.iter().map(|access| {
            let resource = match access.group.as_str() {
                "" => access.resource.clone(),
                group => format!("{}.{group}", access.resource),
            };
            let covers = |grant: &Grant| {
                let everywhere = grant.namespace.is_none();
                grant.verb == access.verb
                    && grant.resource == resource
                    && (everywhere || grant.namespace == access.namespace)
            };
            let granted = grants.get(review.identity.user());
            AccessVerdict {
                allowed: granted.is_none_or(|granted| granted.iter().any(covers)),
                reason: None,
            }
        });
        Ok(verdicts.collect())
    }

    async fn health(&self) -> Check {
        Check::ready("resourcifier", "")
    }
}

pub(super) fn away() -> CallError {
    let message = "resourcifier cannot be reached";
    let error = ErrorBody::new(ErrorCode::DeployerUnavailable, message);
    CallError::Refused(Box::new(error))
}

/// Each resource waits for the one before it.
fn edges(resources: &[Resource]) -> Vec<Edge> {
    let pairs = (1..resources.len()).map(|resource| Edge {
        resource,
        on: resource - 1,
        ready: true,
        because: EdgeReason::DependsOn,
        detail: resources[resource - 1].name.to_string(),
    });
    pairs.collect()
}
