//! The use cases: what each request means for plan and apply.

mod checks;
mod export;
mod jobs;
mod prepared;
mod read;
mod refusal;
mod reviews;
mod status;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use common::api::deployer::{ApplyRequest, DeleteRequest, Policies};
use common::api::error::{ErrorBody, ErrorCode};
use common::api::job::{Fence, JobsStopped, Renewal, Renewed, StopJobs};
use common::model::{Identity, ObjectRef, Resource};
use common::work;
use serde_json::{Map, Value};

use crate::apply::{Deadline, Discovery};
use crate::kubectl::{Caller, Cluster, Gate, Kubectl};
use crate::plan::{self, Catalog, Desired};

use jobs::Jobs;
use prepared::{Apply, Delete, Ground};

pub use prepared::Prepared;

/// The deadline of reads.
const LOOK: Duration = Duration::from_secs(20);

/// What to do about a request without a user to impersonate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nameless {
    /// Use the permissions of the kubeconfig: for a service that only trusted callers can reach.
    AsItself,
    Refused,
}

pub struct Deployer {
    cluster: Arc<dyn Cluster>,
    discovery: Discovery,
    nameless: Nameless,
    jobs: Arc<Jobs>,
}

impl Deployer {
    pub fn new(cluster: Arc<dyn Cluster>, nameless: Nameless) -> Self {
        Self {
            discovery: Discovery::new(cluster.clone()),
            cluster,
            nameless,
            jobs: Arc::default(),
        }
    }

    /// Access to the objects as a user, for reads.
    fn kubectl(&self, on_behalf_of: Option<&Identity>) -> Result<Arc<dyn Kubectl>, ErrorBody> {
        let caller = self.caller(on_behalf_of)?;
        let gate = Arc::new(Gate::open());
        Ok(self.cluster.clone().acting_for(caller, gate))
    }

    /// The gate of a job, and access to the objects through it.
    fn gated(
        &self,
        on_behalf_of: Option<&Identity>,
        fence: Option<&Fence>,
    ) -> Result<(Arc<Gate>, Arc<dyn Kubectl>), ErrorBody> {
        let mut caller = self.caller(on_behalf_of)?;
        if let Some(operation) = fence.and_then(|fence| fence.operation.as_ref()) {
            caller = caller.working_on(operation)?;
        }
        let gate = jobs::gate(fence);
        let kubectl = self.cluster.clone().acting_for(caller, gate.clone());
        Ok((gate, kubectl))
    }

    fn caller(&self, on_behalf_of: Option<&Identity>) -> Result<Caller, ErrorBody> {
        match on_behalf_of {
            Some(identity) => Ok(Caller::new(identity.clone())?),
            None if self.nameless == Nameless::AsItself => Ok(Caller::itself()),
            None => {
                let message = "the request has no user (onBehalfOf), but this resourcifier requires one (--require-identity): configure authentication in the manager";
                Err(ErrorBody::new(ErrorCode::Forbidden, message))
            }
        }
    }

    /// The manager is alive. Returns whether the job runs here.
    pub fn renew(&self, renewal: &Renewal) -> Renewed {
        Renewed {
            known: self.jobs.renew(renewal),
        }
    }

    /// Ends jobs. Returns when they write nothing to the cluster any more.
    pub async fn stop(&self, stop: &StopJobs) -> JobsStopped {
        self.jobs.stop(stop).await
    }

    /// Plans the request. Fails for all faults that are visible without live objects.
    pub async fn prepare_apply(&self, request: ApplyRequest) -> Result<Prepared<Apply>, ErrorBody> {
        let deadline = Deadline::after(request.timeout_ms);
        let (gate, kubectl) = self.gated(request.on_behalf_of.as_ref(), request.fence.as_ref())?;
        let catalog = self
            .discovery
            .catalog(&plan::wanted(&request.resources))
            .await?;
        let bytes = size(&request.resources);
        let served = catalog.clone();
        let (request, plan) = work::sized(bytes, move || {
            let plan = plan::plan(desired(&request), &served);
            (request, plan)
        })
        .await;
        let plan = plan?;
        Ok(Prepared {
            work: Apply { request, plan },
            ground: Ground {
                kubectl,
                catalog,
                deadline,
                gate,
                jobs: self.jobs.clone(),
            },
        })
    }

    /// Finds the objects of the unconfirmed resources. A resource that cannot be an object has left nothing in the
    /// cluster.
    pub async fn prepare_delete(
        &self,
        request: DeleteRequest,
    ) -> Result<Prepared<Delete>, ErrorBody> {
        let deadline = Deadline::after(request.timeout_ms);
        let (gate, kubectl) = self.gated(request.on_behalf_of.as_ref(), request.fence.as_ref())?;
        let catalog = self.catalog_for(&request).await?;
        let bytes = size(&request.unconfirmed);
        let served = catalog.clone();
        let (request, unconfirmed) = work::sized(bytes, move || {
            let kept: HashSet<_> = request.kept.iter().map(ObjectRef::identity).collect();
            let mut unconfirmed = unconfirmed(&request, &served);
            unconfirmed.retain(|(_, object)| !kept.contains(&object.identity()));
            (request, unconfirmed)
        })
        .await;
        Ok(Prepared {
            work: Delete {
                request,
                unconfirmed,
            },
            ground: Ground {
                kubectl,
                catalog,
                deadline,
                gate,
                jobs: self.jobs.clone(),
            },
        })
    }

    async fn catalog_for(&self, request: &DeleteRequest) -> Result<Arc<Catalog>, ErrorBody> {
        let recorded: Vec<ObjectRef> = request
            .recorded
            .iter()
            .map(|old| old.object.clone())
            .collect();
        let catalog = match request.unconfirmed.is_empty() {
            true => self.discovery.catalog_of(&recorded).await?,
            false => {
                self.discovery
                    .catalog(&plan::wanted(&request.unconfirmed))
                    .await?
            }
        };
        Ok(catalog)
    }
}

/// The size of the planning work: by the bytes and the number of the resources.
fn size(resources: &[Resource]) -> usize {
    let properties = resources.iter().flat_map(|resource| {
        let metadata = resource.metadata.iter();
        resource.properties.iter().chain(metadata)
    });
    work::bytes_of(properties) + resources.len()
}

fn desired(request: &ApplyRequest) -> Desired<'_> {
    Desired {
        deployment: &request.deployment,
        namespace: &request.namespace,
        resources: &request.resources,
        outputs: &request.outputs,
        policies: request.policies,
    }
}

/// The plan of all resources, if it is valid. Otherwise, only resources with an identity. A kind that the cluster does
/// not serve has no objects: they were deleted with their definition.
fn unconfirmed(request: &DeleteRequest, catalog: &Catalog) -> Vec<(Resource, ObjectRef)> {
    let planned = |resources: &[Resource]| {
        let plan = plan::plan(
            Desired {
                deployment: &request.deployment,
                namespace: &request.namespace,
                resources,
                outputs: &[],
                policies: Policies::default(),
            },
            catalog,
        );
        plan.map(|plan| {
            plan.nodes
                .into_iter()
                .map(|node| (node.resource, node.object))
                .collect::<Vec<_>>()
        })
    };
    let one_by_one = || {
        request
            .unconfirmed
            .iter()
            .filter_map(|resource| {
                let alone = planned(&[identity_of(resource)]).ok()?;
                let (_, object) = alone.into_iter().next()?;
                Some((resource.clone(), object))
            })
            .collect()
    };
    planned(&request.unconfirmed).unwrap_or_else(|_| one_by_one())
}

/// The resource with only its identity, because references in other fields are unknown for a resource alone.
fn identity_of(resource: &Resource) -> Resource {
    let stated = resource.properties.as_ref().and_then(Value::as_object);
    let properties = stated.map(|stated| {
        let part = |map: &Map<String, Value>, keys: [&str; 2]| -> Map<String, Value> {
            let parts = keys.into_iter().filter_map(|key| {
                let value = map.get(key)?;
                Some((key.to_owned(), value.clone()))
            });
            parts.collect()
        };
        let mut properties = part(stated, ["apiVersion", "kind"]);
        if let Some(metadata) = stated.get("metadata").and_then(Value::as_object) {
            let metadata = part(metadata, ["name", "namespace"]);
            properties.insert("metadata".to_owned(), Value::Object(metadata));
        }
        Value::Object(properties)
    });
    Resource {
        properties,
        // Its dependencies are not included either.
        metadata: None,
        ..resource.clone()
    }
}
