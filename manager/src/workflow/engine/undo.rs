//! The way back from a failed write, if the request asks for it (`rollbackOnFailure`).
//!
//! It is a rollback, or a removal if the deployment is new, within the same operation. The deployment stays locked
//! until it ends, and the caller gets both results together.

use common::api::error::{ErrorBody, ErrorCode};
use common::model::{Deployment, Rollback};
use jiff::Timestamp;

use crate::domain::manifest;
use crate::domain::operation::intent::Intent;
use crate::store::operations::{OperationRecord, Undo};
use crate::workflow::step::{Goal, Step};

/// What to roll back to, if the failed step requires it. A failure before the first apply left nothing.
pub fn of(
    record: &OperationRecord,
    step: Step,
    error: &ErrorBody,
    deployment: Option<&Deployment>,
) -> Option<Undo> {
    let wanted = record.options.rollback_on_failure
        && step == Step::Apply
        && !matches!(
            error.code,
            ErrorCode::OperationStopped | ErrorCode::Forbidden
        );
    let deployment = deployment.filter(|_| wanted)?;
    let to = deployment.deployed_manifest.clone();
    // An update of a deployment that was never ready has nothing to roll back to, and must not remove what others made.
    if to.is_none() && !matches!(record.intent, Intent::Create(_)) {
        return None;
    }
    let latest = deployment.latest_manifest.as_ref();
    let manifest = manifest::name(latest, Timestamp::now()).ok()?;
    Some(Undo { to, manifest })
}

/// The goal of the rollback. It has the policies of the failed write.
pub fn goal(record: &OperationRecord, undo: &Undo) -> Goal {
    let intent = match &undo.to {
        Some(to) => Intent::Rollback { to: to.clone() },
        None => Intent::Delete {
            delete_policy: record.options.policies.delete,
        },
    };
    Goal {
        intent,
        manifest: Some(undo.manifest.clone()),
    }
}

/// The result of the rollback, as the end of the sentence about the failure.
pub fn rendered(rollback: &Rollback) -> String {
    match (&rollback.to, &rollback.error) {
        (Some(to), None) => format!("the deployment was rolled back to {to}"),
        (None, None) => "the deployment was removed again".to_owned(),
        (Some(to), Some(error)) => format!("rolling back to {to} failed too: {}", error.message),
        (None, Some(error)) => format!("removing the deployment failed too: {}", error.message),
    }
}
