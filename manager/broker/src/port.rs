//! The port to what stores the records and deploys.
//!
//! Promises of an adapter:
//! - A commit writes all edits or none. It is a conflict if a record is not at the version that was read.
//! - [`Backend::start`] commits the edits together with the acceptance of the operation on the deployment. Neither
//!   exists without the other, even after a crash.
//! - An accepted operation goes on after a restart, and [`Backend::outcome`] waits for its end.
//! - [`Backend::remove`] stops what runs on the deployment. It can be repeated after a crash.

use std::collections::BTreeMap;

use async_trait::async_trait;
use common::model::{DeploymentName, Import, Namespace, OperationId};
use serde_json::{Map, Value};

use crate::error::BrokerError;
use crate::record::{Binding, Caller, Flags, Instance};

/// A record as it was read.
pub type Version = Vec<u8>;

#[derive(Debug, Clone, PartialEq)]
pub struct Versioned<T> {
    pub record: T,
    pub version: Version,
}

/// A change of one record, if it is still at the expected version. None: it does not exist.
#[derive(Debug, Clone)]
pub enum Edit {
    Instance(Instance, Option<Version>),
    Binding(Binding, Option<Version>),
    /// The instance stays as it is.
    KeepInstance(String, Version),
    ForgetInstance(Instance, Version),
    ForgetBinding(Binding, Version),
}

/// A create or an update of a deployment.
#[derive(Debug, Clone)]
pub struct Write {
    pub operation: OperationId,
    pub is_new: bool,
    pub deployment: DeploymentName,
    pub namespace: Namespace,
    pub description: String,
    pub labels: BTreeMap<String, String>,
    /// The configuration, as JSON. None: that of the deployment, once more.
    pub content: Option<String>,
    pub imports: Vec<Import>,
    pub caller: Caller,
    /// What the instance needs of its cluster, if the plan chooses one.
    pub placement: Option<Placement>,
    /// The deployment whose cluster a new one shares.
    pub beside: Option<DeploymentName>,
}

/// What an instance of a plan needs of its cluster.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Placement {
    /// Whether a template selects the clusters.
    pub has_selector: bool,
    pub requests: Option<Map<String, Value>>,
    /// What the instances of each plan need, by the ids of the plans.
    pub of_plans: BTreeMap<String, Map<String, Value>>,
}

/// How an operation on a deployment ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Succeeded {
        outputs: Map<String, Value>,
    },
    Failed {
        description: String,
        /// Whether the request is at fault, such as its parameters.
        is_callers: bool,
        /// Whether the deployment is as it was before.
        is_undone: bool,
        /// What the plan says about it.
        flags: Flags,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BackendError {
    /// A record has changed since it was read.
    #[error("a record has changed meanwhile")]
    Conflict,
    /// The write was not accepted, and nothing was changed.
    #[error(transparent)]
    Refused(BrokerError),
    /// The process stops. Operations go on at the next start.
    #[error("the service is stopping; the operation goes on when it is started again")]
    Stopping,
    /// A fault of the service.
    #[error("{0}")]
    Fault(String),
}

#[async_trait]
pub trait Backend: Send + Sync {
    /// A new id.
    fn operation_id(&self) -> Result<OperationId, BackendError>;

    async fn instance(&self, id: &str) -> Result<Option<Versioned<Instance>>, BackendError>;

    async fn binding(
        &self,
        instance: &str,
        id: &str,
    ) -> Result<Option<Versioned<Binding>>, BackendError>;

    /// All bindings of an instance.
    async fn bindings(&self, instance: &str) -> Result<Vec<Versioned<Binding>>, BackendError>;

    /// The instances and the bindings with a running operation.
    async fn unfinished(&self) -> Result<(Vec<Instance>, Vec<Binding>), BackendError>;

    async fn commit(&self, edits: Vec<Edit>) -> Result<(), BackendError>;

    async fn start(&self, edits: Vec<Edit>, write: Write) -> Result<(), BackendError>;

    async fn outcome(&self, operation: &OperationId) -> Result<Outcome, BackendError>;

    /// Waits until the configuration of a create or an update is expanded. Returns the outputs that are known then, or
    /// None if the operation has ended before.
    async fn promised(
        &self,
        operation: &OperationId,
    ) -> Result<Option<Map<String, Value>>, BackendError>;

    /// What the live objects of a deployment expose to its bindings, by their keys.
    async fn exposed(
        &self,
        deployment: &DeploymentName,
        caller: &Caller,
    ) -> Result<Map<String, Value>, BackendError>;

    /// Deletes a deployment with its objects, whatever it is doing. Returns why it is not possible.
    async fn remove(
        &self,
        deployment: &DeploymentName,
        caller: &Caller,
    ) -> Result<Option<String>, BackendError>;
}
