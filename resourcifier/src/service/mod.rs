//! The use cases: what a request means, in terms of plan and apply.

mod checks;
mod read;
mod status;

use std::sync::Arc;
use std::time::Duration;

use common::api::deployer::{
    ApplyRequest, CheckResponse, DeleteRequest, DiffReport, Policies, Report,
};
use common::api::error::ErrorBody;
use common::model::{ObjectRef, Resource};

use crate::apply::{self, Context, Deadline, Discovery, Events, Known, Stopped};
use crate::kubectl::Kubectl;
use crate::plan::{self, Catalog, Desired, Plan};

/// For what only looks.
const LOOK: Duration = Duration::from_secs(20);

pub struct Deployer {
    kubectl: Arc<dyn Kubectl>,
    discovery: Discovery,
}

/// A write that was found possible.
pub struct Prepared<W> {
    work: W,
    catalog: Arc<Catalog>,
    deadline: Deadline,
}

pub struct Apply {
    request: ApplyRequest,
    plan: Plan,
}

impl Prepared<Apply> {
    /// What a caller is told who only wants to know whether it is possible.
    pub fn checked(&self) -> CheckResponse {
        let nodes = self.work.plan.nodes.iter();
        CheckResponse {
            objects: nodes.map(|node| node.object.clone()).collect(),
            edges: self.work.plan.edges(),
        }
    }
}

pub struct Delete {
    request: DeleteRequest,
    unconfirmed: Vec<(Resource, ObjectRef)>,
}

impl Deployer {
    pub fn new(kubectl: Arc<dyn Kubectl>) -> Self {
        Self {
            discovery: Discovery::new(kubectl.clone()),
            kubectl,
        }
    }

    /// Plans it; fails for all that can be told without looking at objects.
    pub async fn prepare_apply(&self, request: ApplyRequest) -> Result<Prepared<Apply>, ErrorBody> {
        let deadline = Deadline::after(request.timeout_ms);
        let catalog = self
            .discovery
            .catalog(&plan::wanted(&request.resources))
            .await?;
        let plan = plan::plan(desired(&request), &catalog)?;
        Ok(Prepared {
            work: Apply { request, plan },
            catalog,
            deadline,
        })
    }

    pub async fn apply(
        &self,
        prepared: Prepared<Apply>,
        events: &Events,
    ) -> Result<Report, Stopped> {
        let Prepared {
            work: Apply { request, plan },
            catalog,
            deadline,
        } = prepared;
        let context = Context {
            kubectl: &*self.kubectl,
            catalog: &catalog,
            deployment: &request.deployment,
            events,
            deadline,
        };
        tracing::info!(deployment = %request.deployment, resources = plan.nodes.len(), "applying deployment {}", request.deployment);
        let known = Known {
            recorded: &request.recorded,
            expected: &request.expected,
            delete: request.policies.delete,
        };
        apply::apply(context, plan, known).await
    }

    /// What an apply would do; nothing is changed.
    pub async fn diff(
        &self,
        prepared: Prepared<Apply>,
        events: &Events,
    ) -> Result<DiffReport, Stopped> {
        let Prepared {
            work: Apply { request, plan },
            catalog,
            deadline,
        } = prepared;
        let context = Context {
            kubectl: &*self.kubectl,
            catalog: &catalog,
            deployment: &request.deployment,
            events,
            deadline,
        };
        apply::diff(context, &plan, &request.recorded, request.policies.delete).await
    }

    /// Works out which objects the unconfirmed resources would be. One that can be none has left nothing behind.
    pub async fn prepare_delete(
        &self,
        request: DeleteRequest,
    ) -> Result<Prepared<Delete>, ErrorBody> {
        let deadline = Deadline::after(request.timeout_ms);
        let catalog = self.catalog_for(&request).await?;
        let unconfirmed = unconfirmed(&request, &catalog);
        Ok(Prepared {
            work: Delete {
                request,
                unconfirmed,
            },
            catalog,
            deadline,
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

    pub async fn delete(
        &self,
        prepared: Prepared<Delete>,
        events: &Events,
    ) -> Result<Report, Stopped> {
        let Prepared {
            work: Delete {
                request,
                unconfirmed,
            },
            catalog,
            deadline,
        } = prepared;
        let context = Context {
            kubectl: &*self.kubectl,
            catalog: &catalog,
            deployment: &request.deployment,
            events,
            deadline,
        };
        tracing::info!(deployment = %request.deployment, objects = request.recorded.len(), "deleting from deployment {}", request.deployment);
        apply::delete(
            context,
            request.recorded,
            unconfirmed,
            request.delete_policy,
        )
        .await
    }
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

/// Together if they make a plan; else those that make one alone.
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
            .filter_map(|resource| planned(std::slice::from_ref(resource)).ok())
            .flatten()
            .collect()
    };
    planned(&request.unconfirmed).unwrap_or_else(|_| one_by_one())
}
