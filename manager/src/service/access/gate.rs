//! Whether a caller may do something with a deployment, an operation, or something that belongs to no namespace.
//!
//! A caller who may not see something gets the same answer as for something that does not exist.

use common::api::error::ErrorCode;
use common::api::manager::NamespacePermissions;
use common::model::{DeploymentName, Namespace, OperationId};

use crate::auth::authorization::Question;
use crate::auth::{AccessControl, Caller, Resource, Verb};
use crate::error::Error;
use crate::service::deployments::missing;
use crate::store::{Store, deployments, operations};

#[derive(Clone)]
pub struct Gate {
    pub store: Store,
    pub access: AccessControl,
}

impl Gate {
    /// A deployment that exists or is being created. A missing one is reported by the code that reads it.
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

    /// A deployment in a known namespace.
    pub async fn within(
        &self,
        caller: &Caller,
        namespace: &Namespace,
        name: &DeploymentName,
        verb: Verb,
    ) -> Result<(), Error> {
        let identity = caller.identity.as_ref();
        let view = Question::deployment(Verb::Get, namespace, name);
        // The caller who creates it gets the reason: there is nothing to hide yet.
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

    /// Something that belongs to no namespace.
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

    /// What the caller may do in the namespace, whether it exists or not.
    pub async fn permissions(
        &self,
        caller: &Caller,
        namespace: &Namespace,
    ) -> Result<NamespacePermissions, Error> {
        let question = Question {
            namespace: Some(namespace.clone()),
            ..Question::all(Verb::Create, Resource::Deployments)
        };
        let identity = caller.identity.as_ref();
        Ok(NamespacePermissions {
            create: self.access.permission(identity, &question).await?,
        })
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
        // The deployment is gone and its namespace is not recorded: only callers who may see everything see it.
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
