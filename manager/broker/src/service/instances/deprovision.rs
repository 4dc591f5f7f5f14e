//! `DELETE /v2/service_instances/I`.

use crate::error::BrokerError;
use crate::port::{BackendError, Edit, Versioned};
use crate::record::{Instance, InstancePhase, Kind};
use crate::service::fields::Ids;
use crate::service::settle::How;
use crate::service::{Answer, Broker, Context, DECISIONS, deploy};

impl Broker {
    /// Deletes an instance with its bindings. A create that is running is stopped.
    pub async fn deprovision(
        &self,
        id: &str,
        context: &Context,
        ids: &Ids,
    ) -> Result<Answer, BrokerError> {
        let catalog = self.catalog()?;
        let (service, plan) = ids.both()?;
        let plan = catalog.plan(service, plan).map(|(_, plan)| plan);
        context.require_async(plan.is_some_and(|plan| plan.is_async))?;
        // The plan may be gone from the catalog. Then the platform decides.
        let is_async = plan.map_or(context.accepts_incomplete, |plan| plan.is_async);
        for _ in 0..DECISIONS {
            let found = self.backend.instance(id).await?;
            let found = found.filter(|found| found.record.phase() != InstancePhase::Gone);
            let Some(found) = found else {
                return Ok(Answer::gone());
            };
            check_ids(&found.record, ids)?;
            match found.record.phase() {
                InstancePhase::Deleting => {
                    let is_async = is_async || context.accepts_incomplete;
                    return self
                        .instance_answer(found.record, How::of_delete(is_async))
                        .await;
                }
                InstancePhase::Updating => return Err(BrokerError::concurrency()),
                InstancePhase::Creating
                | InstancePhase::Ready
                | InstancePhase::Failed
                | InstancePhase::DeleteFailed
                | InstancePhase::Gone => {}
            }
            match self.begin_delete(found, context).await {
                Err(BackendError::Conflict) => {}
                begun => return self.instance_answer(begun?, How::of_delete(is_async)).await,
            }
        }
        Err(BrokerError::concurrency())
    }

    async fn begin_delete(
        &self,
        found: Versioned<Instance>,
        context: &Context,
    ) -> Result<Instance, BackendError> {
        let id = self.backend.operation_id()?;
        let mut instance = found.record;
        instance.operation = deploy::operation(id, Kind::Delete, String::new(), context);
        let edit = Edit::Instance(instance.clone(), Some(found.version));
        self.backend.commit(vec![edit]).await?;
        Ok(instance)
    }
}

/// The plan may be the one before the latest update.
fn check_ids(record: &Instance, ids: &Ids) -> Result<(), BrokerError> {
    let current = &record.current;
    let mut plans = vec![current.plan_id.as_str()];
    plans.extend(record.previous_plan.as_deref());
    ids.check(&current.service_id, &plans)
}
