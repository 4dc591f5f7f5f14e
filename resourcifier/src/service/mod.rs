//! The use cases: what a request means, in terms of plan and apply.

mod checks;
mod prepared;
mod read;
mod status;

use std::sync::Arc;
use std::time::Duration;

use common::api::deployer::{ApplyRequest, DeleteRequest, Policies};
use common::api::error::ErrorBody;
use common::model::{ObjectRef, Resource};

use crate::apply::{Deadline, Discovery};
use crate::kubectl::Kubectl;
use crate::plan::{self, Catalog, Desired};

use prepared::{Apply, Delete, Ground};

pub use prepared::Prepared;

/// For what only looks.
const LOOK: Duration = Duration::from_secs(20);

pub struct Deployer {
    kubectl: Arc<dyn Kubectl>,
    discovery: Discovery,
}

impl Deployer {
    pub fn new(kubectl: Arc<dyn Kubectl>) -> Self {
        Self {
            discovery: Discovery::new(kubectl.clone()),
            kubectl,
        }
    }

    fn ground(&self, catalog: Arc<Catalog>, deadline: Deadline) -> Ground {
        Ground {
            kubectl: self.kubectl.clone(),
            catalog,
            deadline,
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
            ground: self.ground(catalog, deadline),
        })
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
            ground: self.ground(catalog, deadline),
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
