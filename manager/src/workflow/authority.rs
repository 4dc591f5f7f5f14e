//! Whether the caller of an operation is still authorized, and which identity the operation uses in the cluster.
//!
//! This is decided before every step and every retry, not only when the operation is accepted: a waiting or resumed
//! operation may run long after the caller lost the role. An expired token does not matter: the identity was
//! established with the request.

use common::api::error::{ErrorBody, ErrorCode};
use common::model::{Identity, Namespace};

use super::step::{Dependencies, Goal};
use crate::auth::Verb;
use crate::auth::authorization::Question;
use crate::domain::operation::intent::Intent;
use crate::store::operations::OperationRecord;
use crate::store::{StoreError, deployments};

/// The identity, or the reason for a refusal. No identity if callers are not authenticated.
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
        // The repeated step removed it already, so nothing is left to authorize.
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
            .acting(identity, (&record.cluster, namespace), account)
            .await
    };
    let decided = dependencies.retry.persist(decide).await;
    Ok(decided.map_err(|error| into_error(record, namespace, *error)))
}

/// The permission that the operation needs in the namespace.
pub fn verb(intent: &Intent) -> Verb {
    match intent {
        Intent::Create(_) | Intent::Preview { new: Some(_), .. } => Verb::Create,
        Intent::Update(_)
        | Intent::Preview { new: None, .. }
        | Intent::Commit(_)
        | Intent::Rollback { .. }
        | Intent::Correct
        | Intent::Test => Verb::Update,
        Intent::Delete { .. } => Verb::Delete,
    }
}

fn into_error(record: &OperationRecord, namespace: &Namespace, error: ErrorBody) -> Box<ErrorBody> {
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
