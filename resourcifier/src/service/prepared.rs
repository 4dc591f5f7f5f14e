//! A write that passed all checks. It contains everything that it needs, and looks nothing up.

use std::sync::Arc;

use common::api::deployer::{ApplyRequest, CheckResponse, DeleteRequest, DiffReport, Report};
use common::api::error::ErrorBody;
use common::api::job::Fence;
use common::model::{DeploymentName, ObjectRef, Resource};
use common::work;

use crate::apply::hooks::around_delete;
use crate::apply::{self, Context, Deadline, Events, Known, Removal, Stopped};
use crate::kubectl::{ClusterApi, Gate, Halt};
use crate::plan::{Catalog, Plan};

use super::jobs::{Job, Jobs};

pub struct Prepared<W> {
    pub(super) work: W,
    pub(super) context: WriteContext,
}

/// The context of a write: the cluster, its kinds, and the deadline.
pub struct WriteContext {
    pub(super) kubectl: Arc<dyn ClusterApi>,
    pub(super) catalog: Arc<Catalog>,
    pub(super) deadline: Deadline,
    pub(super) gate: Arc<Gate>,
    /// The operation, or the request.
    pub(super) operation: String,
    pub(super) jobs: Arc<Jobs>,
}

impl WriteContext {
    fn for_deployment<'a>(
        &'a self,
        deployment: &'a DeploymentName,
        events: &'a Events,
    ) -> Context<'a> {
        Context {
            kubectl: &*self.kubectl,
            catalog: &self.catalog,
            deployment,
            operation: &self.operation,
            events,
            deadline: self.deadline,
            gate: &self.gate,
        }
    }

    fn begin(&self, deployment: &DeploymentName, fence: Option<&Fence>) -> Result<Job, ErrorBody> {
        self.jobs.begin(deployment, fence, self.gate.clone())
    }

    /// The caller that stopped the job reads the report. Another reader gets the reason why the report is incomplete.
    fn concluded(&self, report: Report) -> Result<Report, Stopped> {
        match self.gate.halted() {
            Some(halt) if report.stopped && halt != Halt::Stopped => Err(halt.into()),
            _ => Ok(report),
        }
    }
}

pub struct Apply {
    pub(super) request: ApplyRequest,
    pub(super) plan: Plan,
}

impl Prepared<Apply> {
    /// The objects of the plan and their dependencies, for a caller that only checks a request.
    pub async fn checked(self) -> CheckResponse {
        let Apply { request, plan } = self.work;
        let checked = move || CheckResponse {
            objects: plan.nodes.iter().map(|node| node.object.clone()).collect(),
            edges: plan.edges(),
        };
        work::sized(super::size(&request.resources), checked).await
    }

    pub async fn apply(self, events: &Events) -> Result<Report, Stopped> {
        let Apply { request, plan } = self.work;
        let context = self.context.for_deployment(&request.deployment, events);
        events.secrets().spare(&plan);
        tracing::info!(deployment = %request.deployment, resources = plan.nodes.len(), "applying deployment {}", request.deployment);
        let known = Known {
            recorded: &request.recorded,
            expected: &request.expected,
            removal: Removal {
                policy: request.policies.delete,
                restore: request.restore_acquired,
                allow_others: request.allow_deletes,
            },
            create_namespace: request.create_namespace.then_some(&request.namespace),
            preflight: request.preflight,
            predecessor: request.predecessor,
        };
        let job = self
            .context
            .begin(&request.deployment, request.fence.as_ref())?;
        let hooks = request.hooks.as_ref();
        let applied = apply::apply(context, plan, known, hooks);
        let applied = job.run(events, applied).await;
        self.context.concluded(applied?)
    }

    /// What an apply would do. Nothing is changed.
    pub async fn diff(self, events: &Events) -> Result<DiffReport, Stopped> {
        let Apply { request, plan } = self.work;
        let context = self.context.for_deployment(&request.deployment, events);
        events.secrets().spare(&plan);
        let removal = Removal {
            policy: request.policies.delete,
            restore: request.restore_acquired,
            allow_others: request.allow_deletes,
        };
        let hooks = request.hooks.as_ref();
        let found = apply::diff(context, plan, &request.recorded, removal, hooks);
        let job = self.context.begin(&request.deployment, None)?;
        job.run(events, found).await
    }
}

pub struct Delete {
    pub(super) request: DeleteRequest,
    /// Of all resources, if there are hooks to run.
    pub(super) plan: Option<Plan>,
    pub(super) unconfirmed: Vec<(Resource, ObjectRef)>,
}

impl Prepared<Delete> {
    pub async fn delete(self, events: &Events) -> Result<Report, Stopped> {
        let Delete {
            request,
            plan,
            unconfirmed,
        } = self.work;
        let context = self.context.for_deployment(&request.deployment, events);
        tracing::info!(deployment = %request.deployment, objects = request.recorded.len(), "deleting from deployment {}", request.deployment);
        let policy = Removal {
            policy: request.delete_policy,
            restore: request.restore_acquired,
            allow_others: request.allow_deletes,
        };
        let job = self
            .context
            .begin(&request.deployment, request.fence.as_ref())?;
        let DeleteRequest {
            recorded, hooks, ..
        } = request.clone();
        let deleted = async {
            match (plan, hooks) {
                (Some(plan), Some(hooks)) => {
                    events.secrets().spare(&plan);
                    let hooks = &hooks;
                    around_delete(context, plan, hooks, recorded, unconfirmed, policy).await
                }
                _ => apply::delete(context, recorded, unconfirmed, policy).await,
            }
        };
        let deleted = job.run(events, deleted).await;
        self.context.concluded(deleted?)
    }
}
