//! `PUT /v2/service_instances/I/service_bindings/B`: creates a binding, or the successor of one.

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::catalog::{Catalog, Gives, Plan};
use crate::error::{BrokerError, REQUIRES_APP};
use crate::port::{BackendError, Edit, Version, Versioned};
use crate::record::{Binding, BindingTarget, Instance, InstancePhase, Kind, Progress};
use crate::service::fields::{digest_of, object, required, text};
use crate::service::instances::provision::{check_schema, unknown_plan};
use crate::service::instances::update::unknown_instance;
use crate::service::settle::{has_failed, succeeded};
use crate::service::{Answer, Broker, Context, DECISIONS, deploy};

/// The fields that make two binds the same.
const FIELDS: [&str; 7] = [
    "service_id",
    "plan_id",
    "parameters",
    "context",
    "bind_resource",
    "app_guid",
    "predecessor_binding_id",
];

/// A request that has all its fields.
struct Bind {
    target: BindingTarget,
    has_app: bool,
    predecessor: Option<String>,
    /// Further keys that plans of the Inter-operator see of a binding.
    spec: Map<String, Value>,
    digest: String,
}

/// The path of a binding.
struct Path<'a> {
    instance: &'a str,
    id: &'a str,
}

impl Broker {
    /// Creates a binding.
    pub async fn bind(
        &self,
        instance: &str,
        id: &str,
        context: &Context,
        body: &Map<String, Value>,
    ) -> Result<Answer, BrokerError> {
        let catalog = self.catalog()?;
        let path = Path { instance, id };
        let request = self.bind_request(instance, body).await?;
        context.check_platform(&object(body, "context")?.unwrap_or_default())?;
        let (service, plan) = (&request.target.service_id, &request.target.plan_id);
        let (service, plan) = catalog.plan(service, plan).ok_or_else(unknown_plan)?;
        let is_async = plan.bind.as_ref().is_some_and(|bind| bind.is_async);
        context.require_async(is_async)?;
        for _ in 0..DECISIONS {
            let (record, version) = match self.backend.binding(instance, id).await? {
                Some(found) => (Some(found.record), Some(found.version)),
                None => (None, None),
            };
            if let Some(record) = record.filter(|record| record.phase() != InstancePhase::Gone) {
                return self.bind_again(record, &request, context).await;
            }
            let of = self.bindable(instance).await?;
            request.check(&of.record, plan)?;
            if let Some(predecessor) = &request.predecessor {
                self.check_predecessor(&path, predecessor, plan).await?;
            }
            let requires = service.requires.clone();
            match self
                .begin_bind(&path, &request, plan, requires, of, version, context)
                .await
            {
                Err(BackendError::Conflict) => {}
                begun => return self.bound_answer(begun?, is_async).await,
            }
        }
        Err(BrokerError::concurrency())
    }

    /// The fields of the request. A rotation has those of its predecessor.
    async fn bind_request(
        &self,
        instance: &str,
        body: &Map<String, Value>,
    ) -> Result<Bind, BrokerError> {
        let digest = digest_of(body, &FIELDS);
        let resource = object(body, "bind_resource")?.unwrap_or_default();
        let has_app = text(body, "app_guid")?.is_some() || resource.contains_key("app_guid");
        let predecessor = text(body, "predecessor_binding_id")?;
        let target = match &predecessor {
            Some(id) => {
                let found = self.backend.binding(instance, id).await?;
                found.ok_or_else(unknown_predecessor)?.record.target
            }
            None => BindingTarget {
                service_id: required(body, "service_id")?,
                plan_id: required(body, "plan_id")?,
                parameters: object(body, "parameters")?.unwrap_or_default(),
            },
        };
        let spec = [
            ("context", "context"),
            ("bind_resource", "bindResource"),
            ("app_guid", "appGuid"),
        ];
        let spec = spec
            .into_iter()
            .filter_map(|(from, to)| Some((to.to_owned(), body.get(from)?.clone())));
        Ok(Bind {
            target,
            has_app,
            predecessor,
            spec: spec.collect(),
            digest,
        })
    }

    async fn bind_again(
        &self,
        record: Binding,
        request: &Bind,
        context: &Context,
    ) -> Result<Answer, BrokerError> {
        if record.fingerprint != request.digest {
            let message = "the Service Binding exists with other attributes";
            return Err(BrokerError::conflict(message));
        }
        match record.phase() {
            InstancePhase::Creating => self.bound_answer(record, context.accepts_incomplete).await,
            InstancePhase::Ready => Ok(Answer::new(200, Value::Object(record.answer))),
            InstancePhase::Updating | InstancePhase::Deleting | InstancePhase::Gone => {
                Err(BrokerError::concurrency())
            }
            InstancePhase::Failed | InstancePhase::DeleteFailed => Err(BrokerError::conflict(
                "the last operation on the Service Binding failed; delete it first",
            )),
        }
    }

    /// The instance, if it can be bound now.
    async fn bindable(&self, instance: &str) -> Result<Versioned<Instance>, BrokerError> {
        let found = self.backend.instance(instance).await?;
        let found = found.ok_or_else(unknown_instance)?;
        match found.record.phase() {
            InstancePhase::Ready => Ok(found),
            InstancePhase::Gone => Err(unknown_instance()),
            InstancePhase::Creating | InstancePhase::Updating | InstancePhase::Deleting => {
                Err(BrokerError::concurrency())
            }
            InstancePhase::Failed | InstancePhase::DeleteFailed => {
                let message = "the Service Instance failed, and only a delete is possible";
                Err(BrokerError::unprocessable(message))
            }
        }
    }

    async fn check_predecessor(
        &self,
        path: &Path<'_>,
        predecessor: &str,
        plan: &Plan,
    ) -> Result<(), BrokerError> {
        if !plan.rotatable {
            let message = "Service Bindings of this Service Plan cannot be rotated";
            return Err(BrokerError::invalid(message));
        }
        let found = self.backend.binding(path.instance, predecessor).await?;
        let record = found.ok_or_else(unknown_predecessor)?.record;
        let metadata = record.answer.get("metadata");
        let expires = metadata.and_then(|metadata| metadata["expires_at"].as_str());
        let expires = expires.and_then(|time| time.parse::<Timestamp>().ok());
        let is_expired = expires.is_some_and(|time| time <= Timestamp::now());
        match record.phase() == InstancePhase::Ready && !is_expired {
            true => Ok(()),
            false => Err(unknown_predecessor()),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "all of it makes the record")]
    async fn begin_bind(
        &self,
        path: &Path<'_>,
        request: &Bind,
        plan: &Plan,
        requires: Vec<String>,
        of: Versioned<Instance>,
        version: Option<Version>,
        context: &Context,
    ) -> Result<Binding, BackendError> {
        let bind = plan.bind.as_ref().ok_or(BackendError::Conflict)?;
        let operation = self.backend.operation_id()?;
        let name = deploy::binding_name(path.instance, path.id);
        let binding = Binding {
            id: path.id.to_owned(),
            instance: path.instance.to_owned(),
            fingerprint: request.digest.clone(),
            deployment: name.map_err(BackendError::Refused)?,
            instance_deployment: Some(of.record.deployment.clone()),
            namespace: of.record.namespace.clone(),
            target: request.target.clone(),
            requires,
            facts: request.facts(&of.record),
            has_unbind: plan
                .interoperator
                .as_ref()
                .is_some_and(|plan| plan.has_unbind),
            release: None,
            answer: Map::new(),
            operation: deploy::operation(operation, Kind::Create, String::new(), context),
        };
        let binding = match &bind.gives {
            Gives::Outputs(_) => binding,
            Gives::Exposed => self.exposed(binding, &of.record).await?,
        };
        let edits = vec![
            Edit::Binding(binding.clone(), version),
            // A delete of the instance that begins now must find the binding.
            Edit::KeepInstance(of.record.id, of.version),
        ];
        match &bind.gives {
            Gives::Outputs(template) => {
                let write = deploy::binding_write(&binding, template);
                self.backend.start(edits, write).await?;
            }
            Gives::Exposed => self.backend.commit(edits).await?,
        }
        Ok(binding)
    }

    /// The binding with what the instance exposes now: it is done.
    async fn exposed(
        &self,
        mut binding: Binding,
        instance: &Instance,
    ) -> Result<Binding, BackendError> {
        let caller = &binding.operation.caller;
        let exposed = self.backend.exposed(&instance.deployment, caller).await?;
        let credentials = Value::Object(exposed);
        binding.answer = Map::from_iter([("credentials".to_owned(), credentials)]);
        Ok(binding.ended(Progress::Succeeded))
    }

    async fn bound_answer(&self, binding: Binding, is_async: bool) -> Result<Answer, BrokerError> {
        let begun = &binding.operation;
        let following = self.follow_binding(&binding);
        if is_async {
            return Ok(Answer::accepted(&begun.id));
        }
        let ended = following.await?;
        if has_failed(begun, &ended.operation) {
            self.forget_binding(&ended).await?;
        }
        succeeded(begun, &ended.operation)?;
        Ok(Answer::new(201, Value::Object(ended.answer)))
    }
}

impl Bind {
    /// What templates see of the instance and of the request.
    fn facts(&self, instance: &Instance) -> Map<String, Value> {
        let instance = instance.facts_of_binding();
        let facts = [("instance", instance), ("binding", self.spec.clone())];
        let facts = facts.into_iter();
        facts
            .map(|(key, map)| (key.to_owned(), Value::Object(map)))
            .collect()
    }

    fn check(&self, instance: &Instance, plan: &Plan) -> Result<(), BrokerError> {
        let (target, current) = (&self.target, &instance.current);
        if (&target.service_id, &target.plan_id) != (&current.service_id, &current.plan_id) {
            let message = "service_id and plan_id are not those of the Service Instance";
            return Err(BrokerError::invalid(message));
        }
        let Some(bind) = &plan.bind else {
            let message = "Service Instances of this Service Plan cannot be bound";
            return Err(BrokerError::invalid(message));
        };
        if bind.requires_app && !self.has_app && self.predecessor.is_none() {
            let message = "the Service Binding needs an application: send bind_resource.app_guid";
            return Err(BrokerError::unprocessable(message).coded(REQUIRES_APP));
        }
        check_schema(plan.schemas.bind.as_ref(), &target.parameters)
    }
}

fn unknown_predecessor() -> BrokerError {
    BrokerError::invalid(
        "predecessor_binding_id is not a Service Binding of this Service Instance that can be rotated",
    )
}

impl Catalog {
    /// Whether binds of a plan are asynchronous only.
    pub fn binds_async(&self, service: Option<&str>, plan: Option<&str>) -> bool {
        let found = service
            .zip(plan)
            .and_then(|(service, plan)| self.plan(service, plan));
        let bind = found.and_then(|(_, plan)| plan.bind.as_ref());
        bind.is_some_and(|bind| bind.is_async)
    }
}
