//! `DELETE /v2/service_instances/I/service_bindings/B`.

use crate::error::BrokerError;
use crate::port::{BackendError, Edit, Versioned};
use crate::record::{Binding, InstancePhase, Kind};
use crate::service::fields::Ids;
use crate::service::settle::succeeded;
use crate::service::{Answer, Broker, Context, DECISIONS, deploy};

impl Broker {
    /// Deletes a binding. A create that is running is stopped.
    pub async fn unbind(
        &self,
        instance: &str,
        id: &str,
        context: &Context,
        ids: &Ids,
    ) -> Result<Answer, BrokerError> {
        let catalog = self.catalog()?;
        let (service, plan) = (ids.service_id.as_deref(), ids.plan_id.as_deref());
        let is_async = catalog.binds_async(service, plan);
        context.require_async(is_async)?;
        for _ in 0..DECISIONS {
            let found = self.backend.binding(instance, id).await?;
            let found = found.filter(|found| found.record.phase() != InstancePhase::Gone);
            let Some(found) = found else {
                return Ok(Answer::gone());
            };
            ids.both()?;
            let target = &found.record.target;
            ids.check(&target.service_id, &[&target.plan_id])?;
            if found.record.phase() == InstancePhase::Deleting {
                let is_async = is_async || context.accepts_incomplete;
                return self.unbound(found.record, is_async).await;
            }
            let of = self.backend.instance(instance).await?;
            if of.is_some_and(|of| of.record.phase() == InstancePhase::Deleting) {
                return Err(BrokerError::concurrency());
            }
            match self.begin_unbind(found, context).await {
                Err(BackendError::Conflict) => {}
                begun => return self.unbound(begun?, is_async).await,
            }
        }
        Err(BrokerError::concurrency())
    }

    async fn begin_unbind(
        &self,
        found: Versioned<Binding>,
        context: &Context,
    ) -> Result<Binding, BackendError> {
        let id = self.backend.operation_id()?;
        let mut binding = found.record;
        binding.wants_release();
        binding.operation = deploy::operation(id, Kind::Delete, String::new(), context);
        let edit = Edit::Binding(binding.clone(), Some(found.version));
        self.backend.commit(vec![edit]).await?;
        Ok(binding)
    }

    async fn unbound(&self, binding: Binding, is_async: bool) -> Result<Answer, BrokerError> {
        let begun = &binding.operation;
        let following = self.follow_binding(&binding);
        if is_async {
            return Ok(Answer::accepted(&begun.id));
        }
        let ended = following.await?;
        match succeeded(begun, &ended.operation) {
            Ok(()) => Ok(Answer::empty(200)),
            Err(error) => Err(BrokerError {
                instance_usable: None,
                ..error
            }),
        }
    }
}
