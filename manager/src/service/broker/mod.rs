//! The service broker's port, with the manager's own operations: an instance and a binding are deployments.

mod cluster;
mod exposed;
pub mod sources;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use common::api::error::{ErrorBody, ErrorCode};
use common::api::manager::{CreateDeployment, UpdateDeployment, WriteQuery};
use common::model::identity::Parts;
use common::model::{
    ClusterName, Deployment, DeploymentName, DriftPolicy, Identity, Operation, OperationId,
    OperationStatus, OperationType, Output,
};
use common::server::ApiError;
use manager_broker::{
    Backend, BackendError, Binding, BrokerError, Caller, Edit, Flags, Instance, Outcome, Versioned,
    Write,
};
use serde_json::{Map, Value};

use crate::auth;
use crate::deployer::Deployers;
use crate::error::Error;
use crate::service::admin::clusters::Clusters;
use crate::service::expand::Expand;
use crate::service::writes::asked::{Asked, Joined};
use crate::service::writes::{Writes, operation_id};
use crate::store::operations::StopWish;
use crate::store::{Changes, StoreError, broker, deployments, manifests, operations};
use crate::workflow::engine::Suspended;

/// How often an operation that another manager runs is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// Further causes of a failure are not shown to platforms.
const CAUSES: usize = 5;

/// The broker's deployments.
pub struct BrokerDeployments {
    pub writes: Arc<Writes>,
    pub clusters: Arc<Clusters>,
    pub expand: Arc<Expand>,
    pub deployers: Arc<dyn Deployers>,
}

#[async_trait]
impl Backend for BrokerDeployments {
    fn operation_id(&self) -> Result<OperationId, BackendError> {
        operation_id().map_err(|error| fault(&error))
    }

    async fn instance(&self, id: &str) -> Result<Option<Versioned<Instance>>, BackendError> {
        read(broker::instance(&self.writes.store, id).await)
    }

    async fn binding(
        &self,
        instance: &str,
        id: &str,
    ) -> Result<Option<Versioned<Binding>>, BackendError> {
        read(broker::binding(&self.writes.store, instance, id).await)
    }

    async fn bindings(&self, instance: &str) -> Result<Vec<Versioned<Binding>>, BackendError> {
        read(broker::bindings(&self.writes.store, instance).await)
    }

    async fn unfinished(&self) -> Result<(Vec<Instance>, Vec<Binding>), BackendError> {
        read(broker::unfinished(&self.writes.store).await)
    }

    async fn commit(&self, edits: Vec<Edit>) -> Result<(), BackendError> {
        let changes = self.changes(edits).await?;
        read(self.writes.store.commit(changes).await)
    }

    async fn start(&self, edits: Vec<Edit>, write: Write) -> Result<(), BackendError> {
        let cluster = self.cluster(&edits, &write).await?;
        let asked = Asked {
            query: WriteQuery {
                allow_deletes: !write.is_new,
                rollback_on_failure: true,
                ..WriteQuery::default()
            },
            caller: self.caller(&write.caller)?,
            joined: Some(Joined {
                operation: write.operation.clone(),
                changes: self.changes(edits).await?,
            }),
            by_broker: true,
            ..Asked::default()
        };
        let accepted = match write.is_new {
            true => self.writes.create(creation(write, cluster), asked).await,
            false => {
                let name = write.deployment.clone();
                self.writes.update(name, change(write), asked).await
            }
        };
        accepted.map(drop).map_err(refused)
    }

    async fn outcome(&self, id: &OperationId) -> Result<Outcome, BackendError> {
        let operation = self.ended(id).await?;
        let (store, name) = (&self.writes.store, &operation.deployment);
        let Some(error) = &operation.error else {
            let kept = read(broker::outputs(store, name).await)?;
            let outputs = match kept {
                Some(outputs) => outputs,
                None => read(deployments::get(store, name).await)?
                    .map(|found| found.outputs)
                    .unwrap_or_default(),
            };
            let outputs = outputs.into_iter();
            return Ok(Outcome::Succeeded {
                outputs: outputs
                    .map(|Output { name, value }| (name, value))
                    .collect(),
            });
        };
        let left = read(deployments::get(store, name).await)?;
        let is_undone = is_undone(&operation, left.as_ref());
        Ok(Outcome::Failed {
            description: described(error),
            is_callers: is_undone && error.code.status() == 400,
            is_undone,
            flags: flags(&read(broker::outputs(store, name).await)?.unwrap_or_default()),
        })
    }

    async fn promised(&self, id: &OperationId) -> Result<Option<Map<String, Value>>, BackendError> {
        let store = &self.writes.store;
        let Some(operation) = self.expanded(id).await? else {
            return Ok(None);
        };
        let (name, manifest) = (&operation.deployment, &operation.manifest);
        let head = match manifest {
            Some(manifest) => read(manifests::head(store, name, manifest).await)?,
            None => None,
        };
        let outputs = head.map(|head| head.outputs).unwrap_or_default();
        Ok(Some(known(outputs)))
    }

    async fn exposed(
        &self,
        name: &DeploymentName,
        caller: &Caller,
    ) -> Result<Map<String, Value>, BackendError> {
        self.exposed_by(name, caller).await
    }

    async fn remove(
        &self,
        name: &DeploymentName,
        caller: &Caller,
    ) -> Result<Option<String>, BackendError> {
        let caller = self.caller(caller)?;
        let store = &self.writes.store;
        loop {
            if let Some(holder) = read(deployments::holder(store, name).await)? {
                self.stop(&holder, &caller).await?;
                continue;
            }
            if read(deployments::get(store, name).await)?.is_none() {
                return Ok(None);
            }
            let asked = Asked {
                query: WriteQuery {
                    allow_deletes: true,
                    ..WriteQuery::default()
                },
                caller: caller.clone(),
                by_broker: true,
                ..Asked::default()
            };
            match self.writes.delete(name.clone(), asked).await {
                Ok(handle) => {
                    let outcome = handle.outcome().await.map_err(suspended)?;
                    let error = outcome.operation.error.as_ref();
                    return Ok(error.map(described));
                }
                Err(Error::Refused(body)) if body.code == ErrorCode::OperationRunning => {}
                // It was there, so this caller may not see it.
                Err(Error::Refused(body)) => return Ok(Some(described(&body))),
                Err(error) => return Err(refused(error)),
            }
        }
    }
}

impl BrokerDeployments {
    async fn changes(&self, edits: Vec<Edit>) -> Result<Changes, BackendError> {
        let mut changes = Changes::default();
        read(broker::add(&self.writes.store, &mut changes, edits).await)?;
        Ok(changes)
    }

    /// Without authorization nobody has a name, as with the API.
    fn caller(&self, caller: &Caller) -> Result<auth::Caller, BackendError> {
        if self.writes.gate.access.is_open() {
            return Ok(auth::Caller::default());
        }
        let parts = Parts {
            user: caller.user.clone(),
            ..Parts::default()
        };
        let identity = Identity::parse(parts);
        let identity = identity.map_err(|error| BackendError::Fault(error.to_string()))?;
        Ok(auth::Caller::new(Some(identity)))
    }

    /// Ends what runs on a deployment: a delete is waited for, anything else is stopped.
    async fn stop(&self, id: &OperationId, caller: &auth::Caller) -> Result<(), BackendError> {
        let record = read(operations::get(&self.writes.store, id).await)?;
        let is_delete = |operation: &Operation| operation.operation_type == OperationType::Delete;
        if record.is_some_and(|record| !is_delete(&record.operation)) {
            let wish = StopWish {
                user: caller.user().to_owned(),
            };
            read(self.writes.engine.stop(id, wish).await)?;
        }
        self.ended(id).await.map(drop)
    }

    /// The operation as soon as its manifest is stored. None if it ends without one.
    async fn expanded(&self, id: &OperationId) -> Result<Option<Operation>, BackendError> {
        loop {
            if let Some(handle) = self.writes.engine.handle(id) {
                let mut changes = handle.watch().changes();
                let operation = handle.watch().operation();
                if operation.manifest.is_some() {
                    return Ok(Some((*operation).clone()));
                }
                if handle.watch().ended().is_some() {
                    return Ok(None);
                }
                tokio::select! {
                    changed = changes.changed() => changed.map_err(|_| BackendError::Stopping)?,
                    () = handle.suspended() => return Err(BackendError::Stopping),
                }
                continue;
            }
            let record = read(operations::get(&self.writes.store, id).await)?;
            match record.map(|record| record.operation) {
                Some(operation) if operation.manifest.is_some() => return Ok(Some(operation)),
                Some(operation) if operation.status != OperationStatus::Done => {}
                _ => return Ok(None),
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// The operation after its end.
    async fn ended(&self, id: &OperationId) -> Result<Operation, BackendError> {
        loop {
            if let Some(handle) = self.writes.engine.handle(id) {
                let outcome = handle.outcome().await.map_err(suspended)?;
                return Ok(outcome.operation.clone());
            }
            let record = read(operations::get(&self.writes.store, id).await)?;
            let missing = || BackendError::Fault(format!("operation {id} is not known any more"));
            let operation = record.ok_or_else(missing)?.operation;
            if operation.status == OperationStatus::Done {
                return Ok(operation);
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

fn creation(write: Write, cluster: Option<ClusterName>) -> CreateDeployment {
    CreateDeployment {
        name: write.deployment,
        content: write.content.unwrap_or_default(),
        imports: write.imports,
        namespace: Some(write.namespace),
        cluster,
        description: write.description,
        labels: write.labels,
        drift_policy: DriftPolicy::default(),
        service_account: None,
    }
}

fn change(write: Write) -> UpdateDeployment {
    if write.content.is_none() {
        // As it is stored.
        return UpdateDeployment {
            properties: Some(Map::new()),
            ..UpdateDeployment::default()
        };
    }
    UpdateDeployment {
        content: write.content,
        imports: write.imports,
        labels: Some(write.labels),
        ..UpdateDeployment::default()
    }
}

/// What a plan said about the failure.
fn flags(outputs: &[Output]) -> Flags {
    let flag = |name: &str| {
        let found = outputs.iter().find(|one| one.name == name);
        found.and_then(|one| one.value.as_bool())
    };
    Flags {
        usable: flag("instance_usable"),
        repeatable: flag("update_repeatable"),
    }
}

/// Whether a failed create left no deployment, or a failed update left the one that was there.
fn is_undone(operation: &Operation, left: Option<&Deployment>) -> bool {
    let is_restored = operation
        .rollback
        .as_ref()
        .is_some_and(|way| way.error.is_none());
    match operation.operation_type {
        OperationType::Create => left.is_none(),
        _ => is_restored || operation.manifest.is_none(),
    }
}

/// The outputs whose values are known before anything is applied.
fn known(outputs: Vec<Output>) -> Map<String, Value> {
    let is_known = |value: &Value| !value.to_string().contains("$(ref.");
    let outputs = outputs.into_iter().filter(|one| is_known(&one.value));
    outputs
        .map(|Output { name, value }| (name, value))
        .collect()
}

/// What a platform shows to its users.
fn described(error: &ErrorBody) -> String {
    let causes = error.causes.iter().take(CAUSES);
    let causes = causes.map(|cause| cause.message.as_str());
    let all: Vec<_> = std::iter::once(error.message.as_str())
        .chain(causes)
        .collect();
    all.join("; ")
}

fn read<T>(result: Result<T, StoreError>) -> Result<T, BackendError> {
    result.map_err(|error| match error.is_conflict() {
        true => BackendError::Conflict,
        false => fault(&error),
    })
}

fn fault(error: &StoreError) -> BackendError {
    BackendError::Fault(common::server::answer::error::chain(error))
}

fn suspended(_: Suspended) -> BackendError {
    BackendError::Stopping
}

/// Why a write was not accepted. Another operation on the deployment is one of the broker's own, so the records say
/// more.
fn refused(error: Error) -> BackendError {
    match error {
        Error::Refused(body) if body.code == ErrorCode::OperationRunning => BackendError::Conflict,
        Error::Suspended(_) => BackendError::Stopping,
        Error::Store(error) => fault(&error),
        error => {
            let body = ApiError::from(error).0;
            BackendError::Refused(BrokerError::new(body.code.status(), described(&body)))
        }
    }
}
