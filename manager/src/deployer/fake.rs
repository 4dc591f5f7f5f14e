//! A deployer with a cluster in memory. What it does to a resource goes by the resource's name.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use common::api::deployer::*;
use common::api::error::{ErrorBody, ErrorCode, Location};
use common::model::{AppliedObject, ObjectRef, Resource};
use common::server::health::Check;
use futures::StreamExt;

use super::{Deployer, Events, Job};

/// Resources of these names are refused, and never ready.
pub const REFUSED: &str = "refused";
pub const SLOW: &str = "slow";
/// Resources of this name cannot even be planned.
pub const UNKNOWN: &str = "unknown";

#[derive(Debug, Default)]
pub struct FakeDeployer {
    cluster: Mutex<BTreeMap<String, AppliedObject>>,
    jobs: Mutex<Vec<Job>>,
    interruptions: Mutex<VecDeque<Interruption>>,
    /// Jobs wait until there is a permit.
    gate: Mutex<Option<std::sync::Arc<tokio::sync::Semaphore>>>,
}

#[derive(Debug, Clone)]
pub enum Interruption {
    /// Nobody answers.
    Away,
    /// All is done, the stream ends before the report.
    BrokenOff,
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

    pub fn jobs(&self) -> Vec<Job> {
        self.jobs.lock().unwrap().clone()
    }

    /// What exists, by name.
    pub fn objects(&self) -> Vec<String> {
        self.cluster.lock().unwrap().keys().cloned().collect()
    }

    fn apply(&self, request: &ApplyRequest) -> Report {
        let mut report = Report {
            outputs: request.outputs.clone(),
            ..Report::default()
        };
        for resource in &request.resources {
            report
                .resources
                .push(self.apply_one(resource, &mut report.objects));
        }
        for gone in request
            .recorded
            .iter()
            .filter(|old| !request.resources.iter().any(|new| new.name == old.resource))
        {
            report.resources.push(self.remove(gone));
        }
        report
    }

    fn apply_one(&self, resource: &Resource, objects: &mut Vec<AppliedObject>) -> ResourceReport {
        let object = object_of(resource);
        let mut report = ResourceReport {
            name: resource.name.clone(),
            type_name: resource.type_name.clone(),
            object: Some(object.object.clone()),
            uid: Some(object.uid.clone()),
            action: Some(Action::Created),
            state: ResourceState::Ready,
            reason: None,
            error: None,
            final_properties: None,
        };
        if resource.name.as_str() == REFUSED {
            let error = ErrorBody::new(ErrorCode::ResourcesFailed, "refused: the cluster says no");
            return ResourceReport {
                object: None,
                uid: None,
                action: None,
                state: ResourceState::Failed,
                error: Some(error),
                ..report
            };
        }
        self.cluster
            .lock()
            .unwrap()
            .insert(object.object.name.clone(), object.clone());
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
        self.cluster.lock().unwrap().remove(&object.object.name);
        ResourceReport {
            name: object.resource.clone(),
            type_name: common::model::TypeName::parse(object.object.kind.clone()).unwrap(),
            object: Some(object.object.clone()),
            uid: Some(object.uid.clone()),
            action: Some(Action::Deleted),
            state: ResourceState::Gone,
            reason: None,
            error: None,
            final_properties: None,
        }
    }

    fn delete(&self, request: &DeleteRequest) -> Report {
        let unconfirmed = request.unconfirmed.iter().map(object_of);
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
}

fn object_of(resource: &Resource) -> AppliedObject {
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
    async fn check(&self, request: &ApplyRequest, _: Duration) -> Result<(), Box<ErrorBody>> {
        let unknown = |resource: &&Resource| resource.name.as_str() == UNKNOWN;
        let Some(resource) = request.resources.iter().find(unknown) else {
            return Ok(());
        };
        let location = Location {
            resource: Some(resource.name.to_string()),
            ..Location::default()
        };
        let message = format!("resource '{}' has an unknown type", resource.name);
        Err(Box::new(
            ErrorBody::new(ErrorCode::UnknownType, message).at(location),
        ))
    }

    async fn start(&self, job: &Job) -> Result<Events, Box<ErrorBody>> {
        let gate = self.gate.lock().unwrap().clone();
        if let Some(gate) = gate {
            gate.acquire().await.unwrap().forget();
        }
        self.jobs.lock().unwrap().push(job.clone());
        let interruption = self.interruptions.lock().unwrap().pop_front();
        if matches!(interruption, Some(Interruption::Away)) {
            return Err(Box::new(ErrorBody::new(
                ErrorCode::DeployerUnavailable,
                "resourcifier cannot be reached",
            )));
        }
        let report = match job {
            Job::Create(request) | Job::Update(request) => self.apply(request),
            Job::Delete(request) => self.delete(request),
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
                events.push(Err(Box::new(error)));
            }
            Some(Interruption::Away) | None => events.push(Ok(Event::Report(report))),
        }
        Ok(futures::stream::iter(events).boxed())
    }

    async fn status(
        &self,
        request: &StatusRequest,
        _: Duration,
    ) -> Result<Vec<ObjectStatus>, Box<ErrorBody>> {
        let cluster = self.cluster.lock().unwrap();
        let states = request.objects.iter().map(|object| {
            let state = if cluster.contains_key(&object.object.name) {
                ObjectState::Ready
            } else {
                ObjectState::Missing
            };
            ObjectStatus {
                applied: object.clone(),
                state,
                reason: None,
                drift: Vec::new(),
            }
        });
        Ok(states.collect())
    }

    async fn health(&self) -> Check {
        Check::ready("resourcifier", "")
    }
}
