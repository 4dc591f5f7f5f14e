//! `PUT /v2/service_instances/I`.

use serde_json::{Map, Value, json};

use crate::catalog::{Catalog, Plan, Schema};
use crate::error::{BrokerError, MAINTENANCE_INFO_CONFLICT};
use crate::port::{BackendError, Edit, Version};
use crate::record::{Instance, InstancePhase, Kind, Origin, Target};
use crate::service::deploy::{self, instance_name};
use crate::service::fields::{digest, maintenance_version, object, required, text};
use crate::service::settle::How;
use crate::service::{Answer, Broker, Context, DECISIONS};

/// A request that has all its fields.
struct Provision {
    target: Target,
    origin: Origin,
    fingerprint: String,
}

impl Broker {
    /// Creates a service instance.
    pub async fn provision(
        &self,
        id: &str,
        context: &Context,
        body: &Map<String, Value>,
    ) -> Result<Answer, BrokerError> {
        let catalog = self.catalog()?;
        context.require_async(catalog.is_async())?;
        let request = Provision::read(body, self.lenient)?;
        context.check_platform(&request.target.context)?;
        let (service, plan) = (&request.target.service_id, &request.target.plan_id);
        let (_, plan) = catalog.plan(service, plan).ok_or_else(unknown_plan)?;
        context.require_async(plan.is_async)?;
        for _ in 0..DECISIONS {
            let found = self.backend.instance(id).await?;
            let (record, version) = found.map_or((None, None), |found| {
                (Some(found.record), Some(found.version))
            });
            if let Some(record) = record.filter(|record| record.phase() != InstancePhase::Gone) {
                return self.provision_again(record, &request, plan, context).await;
            }
            request.check(plan)?;
            match self
                .begin(id, &request, (&catalog, plan), context, version)
                .await
            {
                Err(BackendError::Conflict) => {}
                begun => {
                    let how = How::of(plan, 201);
                    return self.instance_answer(begun?, how).await;
                }
            }
        }
        Err(BrokerError::concurrency())
    }

    async fn begin(
        &self,
        id: &str,
        asked: &Provision,
        (catalog, plan): (&Catalog, &Plan),
        context: &Context,
        version: Option<Version>,
    ) -> Result<Instance, BackendError> {
        let (operation, target) = (self.backend.operation_id()?, asked.target.clone());
        let named = instance_name(id).and_then(|name| {
            let namespace = deploy::namespace(id, plan, &target.context, self.namespace.as_ref())?;
            Ok((name, namespace))
        });
        let (deployment, namespace) = named.map_err(BackendError::Refused)?;
        let request = asked.fingerprint.clone();
        let instance = Instance {
            id: id.to_owned(),
            fingerprint: request.clone(),
            deployment,
            namespace,
            current: target,
            next: None,
            previous_plan: None,
            dashboard_url: None,
            origin: asked.origin.clone(),
            operation: deploy::operation(operation, Kind::Create, request, context),
        };
        let mut write = deploy::instance_write(&instance, &instance.current, plan);
        if let Some(placement) = &mut write.placement {
            placement.of_plans = catalog.requests();
        }
        let edit = Edit::Instance(instance.clone(), version);
        self.backend.start(vec![edit], write).await?;
        Ok(instance)
    }

    /// The same id again: the same answer for the same request, and a conflict for any other.
    async fn provision_again(
        &self,
        record: Instance,
        request: &Provision,
        plan: &Plan,
        context: &Context,
    ) -> Result<Answer, BrokerError> {
        if record.fingerprint != request.fingerprint {
            let message = "the Service Instance exists with other attributes";
            return Err(BrokerError::conflict(message));
        }
        match record.phase() {
            InstancePhase::Creating => {
                let how = How {
                    is_async: context.accepts_incomplete,
                    ..How::of(plan, 201)
                };
                self.instance_answer(record, how).await
            }
            InstancePhase::Ready => Ok(Answer::of_instance(200, &record)),
            InstancePhase::Updating | InstancePhase::Deleting | InstancePhase::Gone => {
                Err(BrokerError::concurrency())
            }
            InstancePhase::Failed | InstancePhase::DeleteFailed => Err(BrokerError::conflict(
                "the last operation on the Service Instance failed; delete it first",
            )),
        }
    }
}

impl Provision {
    fn read(body: &Map<String, Value>, lenient: bool) -> Result<Self, BrokerError> {
        let (service_id, plan_id) = (required(body, "service_id")?, required(body, "plan_id")?);
        if !lenient {
            required(body, "organization_guid")?;
            required(body, "space_guid")?;
        }
        let target = Target {
            service_id,
            plan_id,
            parameters: object(body, "parameters")?.unwrap_or_default(),
            context: object(body, "context")?.unwrap_or_default(),
            maintenance_version: maintenance_version(body)?,
        };
        let fingerprint = digest(&json!({
            "service": target.service_id,
            "plan": target.plan_id,
            "organization": body.get("organization_guid"),
            "space": body.get("space_guid"),
            "context": target.context,
            "parameters": target.parameters,
        }));
        Ok(Self {
            target,
            origin: Origin {
                organization: text(body, "organization_guid")?,
                space: text(body, "space_guid")?,
            },
            fingerprint,
        })
    }

    fn check(&self, plan: &Plan) -> Result<(), BrokerError> {
        let interoperator = plan.interoperator.as_ref();
        if interoperator.is_some_and(|plan| plan.is_deprecated) {
            let message = "the Service Plan is deprecated and takes no new Service Instances";
            return Err(BrokerError::new(403, message));
        }
        check_maintenance(self.target.maintenance_version.as_deref(), plan)?;
        check_schema(plan.schemas.create.as_ref(), &self.target.parameters)
    }
}

pub fn unknown_plan() -> BrokerError {
    BrokerError::invalid("the catalog has no such service_id with this plan_id")
}

/// The version that the platform knows must be that of the catalog.
pub fn check_maintenance(version: Option<&str>, plan: &Plan) -> Result<(), BrokerError> {
    if version.is_none() || version == plan.maintenance_version.as_deref() {
        return Ok(());
    }
    let message =
        "maintenance_info.version is not that of the Service Plan; read the catalog again";
    Err(BrokerError::unprocessable(message).coded(MAINTENANCE_INFO_CONFLICT))
}

pub fn check_schema(
    schema: Option<&Schema>,
    parameters: &Map<String, Value>,
) -> Result<(), BrokerError> {
    let parameters = Value::Object(parameters.clone());
    match schema.and_then(|schema| schema.faults(&parameters)) {
        Some(faults) => Err(BrokerError::invalid(faults)),
        None => Ok(()),
    }
}
