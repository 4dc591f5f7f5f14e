//! What a step returns: what is written in its commit, and its error.

use common::api::error::{ErrorBody, ErrorCode};
use common::model::{Deployment, ManifestName, OperationId};

use crate::store::operations::Undo;
use crate::store::{Changes, StoreError};

/// The success of a step, with what is written in the same commit.
#[derive(Debug, Default)]
pub struct Done {
    pub changes: Changes,
    pub warnings: Vec<String>,
    /// The deployment after the step, or the last state of a removed one.
    pub deployment: Option<Deployment>,
    /// The operation's manifest, once it is stored.
    pub manifest: Option<ManifestName>,
    /// What the operation rolls back to.
    pub undo: Option<Undo>,
    /// Why the rollback failed.
    pub undo_error: Option<Box<ErrorBody>>,
}

/// The failure of a step: the caller's error, and what is written in the same commit.
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
    /// Only the error is recorded.
    pub fn clean(error: Box<ErrorBody>) -> Self {
        Self {
            error,
            changes: Changes::default(),
            deployment: None,
        }
    }

    /// What is written for the failure.
    pub fn into_done(self) -> Done {
        Done {
            changes: self.changes,
            deployment: self.deployment,
            ..Done::default()
        }
    }

    /// A fault of the service or the store, not of the request. The log has the cause, and the caller gets the
    /// operation's id.
    pub fn internal(operation: &OperationId, error: &StoreError) -> Self {
        tracing::error!(operation.id = %operation, error = common::server::answer::error::chain(error), "operation {operation} failed by a fault of the service");
        let message =
            format!("the service failed; its log has the cause under operation {operation}");
        Self::clean(Box::new(ErrorBody::new(ErrorCode::Internal, message)))
    }
}
