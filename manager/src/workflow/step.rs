//! What a step is given, and what it comes to.

use std::sync::Arc;
use std::time::Duration;

use common::api::error::{ErrorBody, ErrorCode};
use common::model::{Deployment, DeploymentName, ManifestName, OperationId};
use tokio::time::Instant;

use super::expansion::Expansions;
use super::live::Live;
use super::retry::Retry;
use crate::deployer::Deployer;
use crate::domain::place::Source;
use crate::store::operations::{self, OperationRecord};
use crate::store::{Changes, Store, StoreError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Expand,
    Check,
    Store,
    Apply,
    Publish,
    Empty,
    Remove,
    Forget,
}

impl Step {
    /// What `progress.step` says while it runs.
    pub fn verb(self) -> &'static str {
        match self {
            Step::Expand => "expanding",
            Step::Check => "checking",
            Step::Store | Step::Empty => "storing",
            Step::Apply => "applying",
            Step::Publish => "publishing",
            Step::Remove => "deleting",
            Step::Forget => "removing",
        }
    }
}

/// What all steps work with.
pub struct Tools {
    pub store: Store,
    pub expansions: Arc<Expansions>,
    pub deployer: Arc<dyn Deployer>,
    pub retry: Retry,
}

/// One run of one operation.
pub struct Run<'a> {
    pub tools: &'a Tools,
    pub record: &'a OperationRecord,
    pub live: &'a Live,
    pub deadline: Instant,
}

impl Run<'_> {
    pub fn store(&self) -> &Store {
        &self.tools.store
    }

    pub fn id(&self) -> &OperationId {
        &self.record.operation.id
    }

    pub fn deployment(&self) -> &DeploymentName {
        &self.record.operation.deployment
    }

    /// The manifest that the operation makes: named when it was accepted.
    pub fn manifest(&self) -> Result<&ManifestName, StoreError> {
        let manifest = self.record.operation.manifest.as_ref();
        manifest.ok_or_else(|| {
            StoreError::Missing(format!("the manifest's name of operation {}", self.id()))
        })
    }

    /// What is left until the deadline.
    pub fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Adds to an error that names resources where in the configuration they stand.
    pub async fn place(&self, error: &mut ErrorBody) -> Result<(), StoreError> {
        let input = operations::input(self.store(), self.id()).await?;
        let expansion = operations::expansion(self.store(), self.id()).await?;
        let source = Source {
            file: self.deployment().as_str(),
            content: &input.content,
            layout: &expansion.layout,
        };
        source.add_to(error);
        Ok(())
    }

    /// The deployment, where an earlier step or operation must have stored it.
    pub async fn stored(&self) -> Result<Deployment, StoreError> {
        let found = crate::store::deployments::get(self.store(), self.deployment()).await?;
        found.ok_or_else(|| StoreError::Missing(format!("deployment {}", self.deployment())))
    }
}

/// A step succeeded: what is to be written in the commit that says so.
#[derive(Debug, Default)]
pub struct Done {
    pub changes: Changes,
    pub warnings: Vec<String>,
    /// The deployment as it is from now on; of a removed one, the last that is told of it.
    pub deployment: Option<Deployment>,
}

/// A step failed: the error that the caller sees, and what is to be written in the commit that says so.
#[derive(Debug)]
pub struct Failure {
    pub error: Box<ErrorBody>,
    pub changes: Changes,
    pub deployment: Option<Deployment>,
}

#[derive(Debug)]
pub enum StepError {
    Failed(Box<Failure>),
    Store(StoreError),
}

impl From<StoreError> for StepError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Failure> for StepError {
    fn from(failure: Failure) -> Self {
        Self::Failed(Box::new(failure))
    }
}

impl Failure {
    /// Nothing but the error is to be remembered.
    pub fn clean(error: Box<ErrorBody>) -> Self {
        Self {
            error,
            changes: Changes::default(),
            deployment: None,
        }
    }

    /// Something is wrong with us or the store, not with the request: logged, and told only by the operation's id.
    pub fn internal(operation: &OperationId, error: &StoreError) -> Self {
        tracing::error!(operation.id = %operation, error = common::server::error::chain(error), "operation {operation} failed by a fault of the service");
        let message =
            format!("the service failed; its log has the cause under operation {operation}");
        Self::clean(Box::new(ErrorBody::new(ErrorCode::Internal, message)))
    }
}
