//! Whether a caller may do something with a deployment, an operation, or what belongs to no namespace.
//!
//! What a caller may not see does not exist for them: the answer is the one for what is not there.

use common::api::error::ErrorCode;
use common::model::{DeploymentName, Namespace, OperationId};

use super::deployments::missing;
use crate::auth::authorization::Question;
use crate::auth::{Access, Caller, Resource, Verb};
use crate::error::Error;
use crate::store::{Store, deployments, operations};

#[derive(Clone)]
pub struct Gate {
    pub store: Store,
    pub access: Access,
}

impl Gate {
    /// A deployment, or one that is just being made. What is not there is told by whoever looks for it.
    pub async fn deployment(
        &self,
        caller: &Caller,
        name: &DeploymentName,
        verb: Verb,
    ) -> Result<(), Error> {
        if self.access.is_open() {
            return Ok(());
        }
        if let Some(found) = deployments::get(&self.store, name).await? {
            return self.within(caller, &found.namespace, name, verb).await;
        }
        let Some(holder) = deployments::holder(&self.store, name).await? else {
            return Ok(());
        };
        self.operation_or(caller, &holder, verb, missing(name))
            .await
    }

    /// A deployment of a namespace that is known already.
    pub async fn within(
        &self,
        caller: &Caller,
        namespace: &Namespace,
        name: &DeploymentName,
        verb: Verb,
    ) -> Result<(), Error> {
        let identity = caller.identity.as_ref();
        let view = Question::deployment(Verb::Get, namespace, name);
        // Who makes one must be told what it takes; there is nothing yet to be kept from them.
        if verb != Verb::Create && !self.access.allows(identity, &view).await? {
            return Err(missing(name));
        }
        let question = Question::deployment(verb, namespace, name);
        Ok(self.access.require(identity, &question).await?)
    }

    pub async fn operation(
        &self,
        caller: &Caller,
        id: &OperationId,
        verb: Verb,
    ) -> Result<(), Error> {
        if self.access.is_open() {
            return Ok(());
        }
        self.operation_or(caller, id, verb, missing_operation(id))
            .await
    }

    /// What belongs to no namespace.
    pub async fn cluster_scoped(
        &self,
        caller: &Caller,
        resource: Resource,
        verb: Verb,
    ) -> Result<(), Error> {
        let question = Question::all(verb, resource);
        let identity = caller.identity.as_ref();
        Ok(self.access.require(identity, &question).await?)
    }

    async fn operation_or(
        &self,
        caller: &Caller,
        id: &OperationId,
        verb: Verb,
        hidden: Error,
    ) -> Result<(), Error> {
        let Some(record) = operations::get(&self.store, id).await? else {
            return Ok(());
        };
        let name = &record.operation.deployment;
        let namespace = match record.namespace {
            Some(namespace) => Some(namespace),
            None => deployments::get(&self.store, name)
                .await?
                .map(|found| found.namespace),
        };
        // Of a deployment that is gone, and whose namespace nobody noted: for those who may see all.
        let question = |verb| match &namespace {
            Some(namespace) => Question::deployment(verb, namespace, name),
            None => Question::all(verb, Resource::Deployments),
        };
        let identity = caller.identity.as_ref();
        if !self.access.allows(identity, &question(Verb::Get)).await? {
            return Err(hidden);
        }
        Ok(self.access.require(identity, &question(verb)).await?)
    }
}

pub fn missing_operation(id: &OperationId) -> Error {
    Error::new(ErrorCode::NotFound, format!("there is no operation '{id}'"))
}
