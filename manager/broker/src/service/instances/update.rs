//! `PATCH /v2/service_instances/I`.

use serde_json::{Map, Value};

use super::provision::{check_maintenance, check_schema, unknown_plan};
use crate::catalog::{Catalog, Plan, Service, patch};
use crate::error::BrokerError;
use crate::port::{BackendError, Edit, Versioned};
use crate::record::{Instance, InstancePhase, Kind, Target};
use crate::service::fields::{digest_of, maintenance_version, object, required, text};
use crate::service::settle::How;
use crate::service::{Answer, Broker, Context, DECISIONS, deploy};

/// The fields that make two updates the same.
const FIELDS: [&str; 5] = [
    "service_id",
    "plan_id",
    "parameters",
    "context",
    "maintenance_info",
];

/// A request that has all its fields. Absent values stay as they are.
struct Update {
    service_id: String,
    plan_id: Option<String>,
    parameters: Option<Map<String, Value>>,
    context: Option<Map<String, Value>>,
    maintenance_version: Option<String>,
    digest: String,
}

impl Broker {
    /// Changes the plan, the parameters or the context of an instance.
    pub async fn update(
        &self,
        id: &str,
        context: &Context,
        body: &Map<String, Value>,
    ) -> Result<Answer, BrokerError> {
        let catalog = self.catalog()?;
        context.require_async(catalog.is_async())?;
        let request = Update::read(body)?;
        context.check_platform(request.context.as_ref().unwrap_or(&Map::new()))?;
        let service = catalog.service(&request.service_id);
        let service = service.ok_or_else(unknown_plan)?;
        for _ in 0..DECISIONS {
            let found = self.backend.instance(id).await?;
            let found = found.filter(|found| found.record.phase() != InstancePhase::Gone);
            let found = found.ok_or_else(unknown_instance)?;
            let plan = request.plan(&catalog, &found.record)?;
            context.require_async(plan.is_async)?;
            if let Some(running) = request.running(&found.record)? {
                let how = How {
                    is_async: context.accepts_incomplete,
                    ..How::of(plan, 200)
                };
                return self.instance_answer(running, how).await;
            }
            let target = request.target(&found.record, service, plan, &catalog)?;
            if target == found.record.current {
                return Ok(Answer::empty(200));
            }
            match self
                .begin_update(found, &request, target, plan, context)
                .await
            {
                Err(BackendError::Conflict) => {}
                begun => {
                    let how = How::of(plan, 200);
                    return self.instance_answer(begun?, how).await;
                }
            }
        }
        Err(BrokerError::concurrency())
    }

    async fn begin_update(
        &self,
        found: Versioned<Instance>,
        request: &Update,
        target: Target,
        plan: &Plan,
        context: &Context,
    ) -> Result<Instance, BackendError> {
        let id = self.backend.operation_id()?;
        let mut instance = found.record;
        instance.operation = deploy::operation(id, Kind::Update, request.digest.clone(), context);
        let write = deploy::instance_write(&instance, &target, plan);
        instance.previous_plan = Some(instance.current.plan_id.clone());
        instance.next = Some(target);
        let edit = Edit::Instance(instance.clone(), Some(found.version));
        self.backend.start(vec![edit], write).await?;
        Ok(instance)
    }
}

impl Update {
    fn read(body: &Map<String, Value>) -> Result<Self, BrokerError> {
        Ok(Self {
            service_id: required(body, "service_id")?,
            plan_id: text(body, "plan_id")?,
            parameters: object(body, "parameters")?,
            context: object(body, "context")?,
            maintenance_version: maintenance_version(body)?,
            digest: digest_of(body, &FIELDS),
        })
    }

    /// The plan of the request, or else that of the instance.
    fn plan<'a>(&self, catalog: &'a Catalog, record: &Instance) -> Result<&'a Plan, BrokerError> {
        let plan = self.plan_id.as_ref().unwrap_or(&record.current.plan_id);
        let found = catalog.plan(&self.service_id, plan);
        let (_, plan) = found.ok_or_else(unknown_plan)?;
        match record.current.service_id == self.service_id {
            true => Ok(plan),
            false => Err(BrokerError::invalid(
                "service_id is not that of the Service Instance",
            )),
        }
    }

    /// The same update while it runs. Any other operation that runs is in the way.
    fn running(&self, record: &Instance) -> Result<Option<Instance>, BrokerError> {
        match record.phase() {
            InstancePhase::Ready => Ok(None),
            InstancePhase::Updating if record.operation.request == self.digest => {
                Ok(Some(record.clone()))
            }
            InstancePhase::Creating | InstancePhase::Updating | InstancePhase::Deleting => {
                Err(BrokerError::concurrency())
            }
            InstancePhase::Failed | InstancePhase::DeleteFailed | InstancePhase::Gone => {
                let message = "the last operation on the Service Instance failed, and only a delete is possible";
                Err(BrokerError::unprocessable(message))
            }
        }
    }

    /// What the instance is to be, if it may be.
    fn target(
        &self,
        record: &Instance,
        service: &Service,
        plan: &Plan,
        catalog: &Catalog,
    ) -> Result<Target, BrokerError> {
        check_maintenance(self.maintenance_version.as_deref(), plan)?;
        let (before, mut target) = (&record.current, record.current.clone());
        let old = catalog.plan(&self.service_id, &before.plan_id);
        if plan.id != before.plan_id {
            check_change(old.map(|(_, old)| old), plan)?;
        }
        target.plan_id.clone_from(&plan.id);
        if let Some(parameters) = &self.parameters {
            check_schema(plan.schemas.update.as_ref(), parameters)?;
            match plan.replaces_parameters {
                true => target.parameters.clone_from(parameters),
                false => patch(&mut target.parameters, parameters),
            }
        }
        if self.maintenance_version.is_some() {
            target
                .maintenance_version
                .clone_from(&self.maintenance_version);
        }
        let context = self.context.as_ref().filter(|new| **new != before.context);
        match context {
            Some(context) if service.allow_context_updates => {
                target.context.clone_from(context);
            }
            Some(_) if target == *before => {
                let message = "the context of this Service Instance cannot be updated";
                return Err(BrokerError::unprocessable(message));
            }
            _ => {}
        }
        Ok(target)
    }
}

/// The old plan must allow it, and a plan of the Inter-operator must name the old one.
fn check_change(old: Option<&Plan>, new: &Plan) -> Result<(), BrokerError> {
    if !old.is_some_and(|old| old.updateable) {
        let message = "the Service Plan of this Service Instance cannot be changed";
        return Err(BrokerError::unprocessable(message));
    }
    let id = old.map(|old| &old.id);
    let names_it = new.interoperator.as_ref().is_none_or(|new| {
        let mut predecessors = new.predecessors.iter();
        predecessors.any(|one| Some(one) == id)
    });
    match names_it {
        true => Ok(()),
        false => Err(BrokerError::unprocessable(format!(
            "Update to plan '{}' is not possible: its update_predecessors do not name the present Service Plan",
            new.id
        ))),
    }
}

pub fn unknown_instance() -> BrokerError {
    BrokerError::missing("there is no such Service Instance")
}
