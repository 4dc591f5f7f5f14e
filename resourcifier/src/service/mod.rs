//! The use cases: what each request means for plan and apply.

mod activity;
mod checks;
mod cluster;
mod export;
mod jobs;
mod plans;
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
use common::model::{Identity, ObjectRef, Resource, ResourceMetadata};
use common::request_id;
use common::work::{self, Size};
use serde_json::{Map, Value};

use crate::apply::{Deadline, Discovery};
use crate::kubectl::{Caller, Cluster, ClusterApi, Gate};
use crate::plan::{self, Catalog, Desired, Plan};

use jobs::Jobs;
use prepared::{Apply, Delete, WriteContext};

pub use prepared::Prepared;

/// The deadline of reads.
const LOOK: Duration = Duration::from_secs(20);

/// What to do about a request without a user to impersonate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnonymousPolicy {
    /// Use the permissions of the kubeconfig: for a service that only trusted callers can reach.
    UseServiceIdentity,
    Refuse,
}

pub struct Deployer {
    cluster: Arc<dyn Cluster>,
    discovery: Discovery,
    anonymous: AnonymousPolicy,
    jobs: Arc<Jobs>,
}

impl Deployer {
    pub fn new(cluster: Arc<dyn Cluster>, anonymous: AnonymousPolicy) -> Self {
        Self {
            discovery: Discovery::new(cluster.clone()),
            cluster,
            anonymous,
            jobs: Arc::default(),
        }
    }

    /// Access to the objects as a user, for reads.
    fn kubectl(&self, on_behalf_of: Option<&Identity>) -> Result<Arc<dyn ClusterApi>, ErrorBody> {
        let caller = self.caller(on_behalf_of)?;
        let gate = Arc::new(Gate::open());
        Ok(self.cluster.clone().acting_for(caller, gate))
    }

    /// The gate of a job, and access to the objects through it.
    fn gated(
        &self,
        on_behalf_of: Option<&Identity>,
        fence: Option<&Fence>,
    ) -> Result<(Arc<Gate>, Arc<dyn ClusterApi>), ErrorBody> {
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
            None if self.anonymous == AnonymousPolicy::UseServiceIdentity => Ok(Caller::itself()),
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
        let size = size(&request.resources);
        let served = catalog.clone();
        let (request, plan) = work::sized(size, move || {
            let plan = plan::plan(desired(&request), &served);
            (request, plan)
        })
        .await;
        let plan = plan?;
        let operation = operation_of(request.fence.as_ref());
        Ok(Prepared {
            work: Apply { request, plan },
            context: WriteContext {
                operation,
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
        let hooks = hooks_of(&request).map_or(Size::default(), size);
        let size = size(&request.unconfirmed).and(hooks);
        let served = catalog.clone();
        let (request, plan, unconfirmed) = work::sized(size, move || {
            let kept: HashSet<_> = request.kept.iter().map(ObjectRef::identity).collect();
            let mut unconfirmed = unconfirmed(&request, &served);
            unconfirmed.retain(|(_, object)| !kept.contains(&object.identity()));
            let plan = hook_plan(&request, &served);
            (request, plan, unconfirmed)
        })
        .await;
        let operation = operation_of(request.fence.as_ref());
        Ok(Prepared {
            work: Delete {
                request,
                plan: plan?,
                unconfirmed,
            },
            context: WriteContext {
                operation,
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
        let mut wanted = plan::wanted(&request.unconfirmed);
        wanted.extend(plan::wanted(hooks_of(request).unwrap_or_default()));
        Ok(match wanted.is_empty() {
            true => self.discovery.catalog_of(&recorded).await?,
            false => self.discovery.catalog(&wanted).await?,
        })
    }
}

fn hooks_of(request: &DeleteRequest) -> Option<&[Resource]> {
    request
        .hooks
        .as_ref()
        .map(|hooks| hooks.resources.as_slice())
}

/// What hooks are known by: an operation runs each of them once.
fn operation_of(fence: Option<&Fence>) -> String {
    let operation = fence.and_then(|fence| fence.operation.as_ref());
    operation.map_or_else(request_id::fresh, ToString::to_string)
}

/// The plan for the hooks of a deletion. If the cluster does not serve all kinds any more, hooks can still run that
/// refer to nothing.
fn hook_plan(request: &DeleteRequest, catalog: &Catalog) -> Result<Option<Plan>, ErrorBody> {
    let Some(resources) = hooks_of(request) else {
        return Ok(None);
    };
    let planned = |resources: &[Resource]| {
        let desired = Desired {
            deployment: &request.deployment,
            namespace: &request.namespace,
            resources,
            outputs: &[],
            policies: Policies::default(),
        };
        plan::plan(desired, catalog)
    };
    let is_hook = |resource: &&Resource| {
        let metadata = ResourceMetadata::parse(resource.metadata.as_ref());
        metadata.is_ok_and(|metadata| metadata.hook.is_some())
    };
    let plan = planned(resources).or_else(|_| {
        let hooks: Vec<Resource> = resources.iter().filter(is_hook).cloned().collect();
        planned(&hooks)
    });
    Ok(Some(plan?))
}

/// The size of the planning work: by the bytes and the number of the resources.
fn size(resources: &[Resource]) -> Size {
    let properties = resources.iter().flat_map(|resource| {
        let metadata = resource.metadata.iter();
        resource.properties.iter().chain(metadata)
    });
    Size::of(properties).and(Size::bytes(resources.len()))
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
