//! The use cases: what a request means, in terms of plan and apply.

mod checks;
mod prepared;
mod read;
mod reviews;
mod status;

use std::sync::Arc;
use std::time::Duration;

use common::api::deployer::{ApplyRequest, DeleteRequest, Policies};
use common::api::error::{ErrorBody, ErrorCode};
use common::model::{Identity, ObjectRef, Resource};

use crate::apply::{Deadline, Discovery};
use crate::kubectl::{Caller, Cluster, Kubectl};
use crate::plan::{self, Catalog, Desired};

use prepared::{Apply, Delete, Ground};

pub use prepared::Prepared;

/// For what only looks.
const LOOK: Duration = Duration::from_secs(20);

/// What becomes of a request that names nobody in whose name the cluster is to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nameless {
    /// The kubeconfig's own rights are used: for a service that only trusted callers reach.
    AsItself,
    Refused,
}

pub struct Deployer {
    cluster: Arc<dyn Cluster>,
    discovery: Discovery,
    nameless: Nameless,
}

impl Deployer {
    pub fn new(cluster: Arc<dyn Cluster>, nameless: Nameless) -> Self {
        Self {
            discovery: Discovery::new(cluster.clone()),
            cluster,
            nameless,
        }
    }

    /// The way to the objects in somebody's name: the only one that there is.
    fn kubectl(&self, on_behalf_of: Option<&Identity>) -> Result<Arc<dyn Kubectl>, ErrorBody> {
        let caller = match on_behalf_of {
            Some(identity) => Caller::of(identity.clone())?,
            None if self.nameless == Nameless::AsItself => Caller::itself(),
            None => {
                let message = "the request does not say in whose name (onBehalfOf), and this resourcifier does nothing in its own (--require-identity): let the manager authenticate its callers";
                return Err(ErrorBody::new(ErrorCode::Forbidden, message));
            }
        };
        Ok(self.cluster.clone().acting_for(caller))
    }

    /// Plans it; fails for all that can be told without looking at objects.
    pub async fn prepare_apply(&self, request: ApplyRequest) -> Result<Prepared<Apply>, ErrorBody> {
        let deadline = Deadline::after(request.timeout_ms);
        let kubectl = self.kubectl(request.on_behalf_of.as_ref())?;
        let catalog = self
            .discovery
            .catalog(&plan::wanted(&request.resources))
            .await?;
        let plan = plan::plan(desired(&request), &catalog)?;
        Ok(Prepared {
            work: Apply { request, plan },
            ground: Ground {
                kubectl,
                catalog,
                deadline,
            },
        })
    }

    /// Works out which objects the unconfirmed resources would be. One that can be none has left nothing behind.
    pub async fn prepare_delete(
        &self,
        request: DeleteRequest,
    ) -> Result<Prepared<Delete>, ErrorBody> {
        let deadline = Deadline::after(request.timeout_ms);
        let kubectl = self.kubectl(request.on_behalf_of.as_ref())?;
        let catalog = self.catalog_for(&request).await?;
        let unconfirmed = unconfirmed(&request, &catalog);
        Ok(Prepared {
            work: Delete {
                request,
                unconfirmed,
            },
            ground: Ground {
                kubectl,
                catalog,
                deadline,
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
