//! Whether who asked for an operation may still do it, and in whose name it reaches the cluster.
//!
//! It is found out before every step and every new try, not only when the operation is accepted: an operation may wait,
//! or be gone on with after a restart, when its caller's role was withdrawn long ago. Whether the caller's token has
//! expired meanwhile does not matter; who they are was settled when they asked.

use common::api::error::{ErrorBody, ErrorCode};
use common::model::{Identity, Namespace};

use super::step::{Dependencies, Goal};
use crate::auth::Verb;
use crate::auth::authorization::Question;
use crate::domain::intent::Intent;
use crate::store::operations::OperationRecord;
use crate::store::{StoreError, deployments};

/// In whose name, or why not. Nobody's where callers are not told apart.
pub type Authority = Result<Option<Identity>, Box<ErrorBody>>;

pub async fn of(
    dependencies: &Dependencies,
    record: &OperationRecord,
    goal: &Goal,
) -> Result<Authority, StoreError> {
    let name = &record.operation.deployment;
    let stored = deployments::get(&dependencies.store, name).await?;
    let namespace = [
        stored.as_ref().map(|stored| &stored.namespace),
        goal.intent.new_deployment().map(|new| &new.namespace),
        record.namespace.as_ref(),
    ];
    let Some(namespace) = namespace.into_iter().flatten().next() else {
        // Removed by the step that is repeated: nothing of it is left to be changed.
        return Ok(Ok(None));
    };
    let account = stored
        .as_ref()
        .and_then(|stored| stored.service_account.as_ref());
    let account = goal.intent.service_account(account);
    let question = Question::deployment(verb(&record.intent), namespace, name);
    let identity = record.identity.as_ref();
    let decide = async || {
        dependencies.access.require(identity, &question).await?;
        dependencies
            .access
            .acting(identity, namespace, account)
            .await
    };
    let decided = dependencies.retry.persist(decide).await;
    Ok(decided.map_err(|error| told(record, namespace, *error)))
}

/// What the role in the namespace must allow.
pub fn verb(intent: &Intent) -> Verb {
    match intent {
        Intent::Create(_) | Intent::Preview { new: Some(_), .. } => Verb::Create,
        Intent::Update(_)
        | Intent::Preview { new: None, .. }
        | Intent::Commit(_)
        | Intent::Rollback { .. }
        | Intent::Correct => Verb::Update,
        Intent::Delete { .. } => Verb::Delete,
    }
}

fn told(record: &OperationRecord, namespace: &Namespace, error: ErrorBody) -> Box<ErrorBody> {
    let id = &record.operation.id;
    tracing::warn!(operation.id = %id, %namespace, error = %error.message, "operation {id} goes no further: {}", error.message);
    if error.code != ErrorCode::Forbidden {
        return Box::new(error);
    }
    let message = format!(
        "operation {id} goes no further, as {}; what it had applied is kept and recorded",
        error.message
    );
    Box::new(ErrorBody { message, ..error })
}
