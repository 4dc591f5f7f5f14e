//! The way back from a write that failed, for who asked for it (`rollbackOnFailure`).
//!
//! It is a rollback, or for a deployment that was never there before a removal, within the same operation: until it ends
//! the deployment is held, and the caller learns of both at once.

use common::api::error::{ErrorBody, ErrorCode};
use common::model::{Deployment, Rollback};
use jiff::Timestamp;

use super::step::{Goal, Step};
use crate::domain::intent::Intent;
use crate::domain::manifest;
use crate::store::operations::{OperationRecord, Undo};

/// Where to go back to, if the failure of the step leads back. What failed before anything was applied left nothing.
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
    // An update of a deployment that was never ready has nothing to go back to, and must not remove what others made.
    if to.is_none() && !matches!(record.intent, Intent::Create(_)) {
        return None;
    }
    let latest = deployment.latest_manifest.as_ref();
    let manifest = manifest::name(latest, Timestamp::now()).ok()?;
    Some(Undo { to, manifest })
}

/// What the steps back go for. They have the policies of the write that failed.
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

/// How it went, as the end of a sentence that tells the failure.
pub fn told(rollback: &Rollback) -> String {
    match (&rollback.to, &rollback.error) {
        (Some(to), None) => format!("the deployment was rolled back to {to}"),
        (None, None) => "the deployment was removed again".to_owned(),
        (Some(to), Some(error)) => format!("rolling back to {to} failed too: {}", error.message),
        (None, Some(error)) => format!("removing the deployment failed too: {}", error.message),
    }
}
