//! After a successful apply, deletes what earlier applies without a report may have left.
//!
//! Such objects are not recorded, so the update did not prune them. Their manifests list them. The deployer deletes
//! only those whose labels say that they belong to the deployment.

use std::collections::HashSet;

use common::api::deployer::DeleteRequest;
use common::model::{AppliedObject, Deployment, Resource};
use serde_json::json;

use super::verdict::{self, Verdict};
use crate::deployer::Job;
use crate::domain::redaction::Redaction;
use crate::store::deployments::Objects;
use crate::store::{StoreError, manifests};
use crate::workflow::job::follow::{self, Followed};
use crate::workflow::step::{Run, StepError};

/// The resources of all manifests whose apply never reported, without duplicates.
pub async fn unconfirmed(run: &Run<'_>, objects: &Objects) -> Result<Vec<Resource>, StoreError> {
    let (mut resources, mut met) = (Vec::new(), HashSet::new());
    for manifest in &objects.unconfirmed {
        let more = manifests::expansion(run.store(), run.deployment(), manifest).await?;
        let more = more.resources.into_iter();
        resources.extend(more.filter(|resource| met.insert(json!(resource).to_string())));
    }
    Ok(resources)
}

/// `known` holds everything that the update itself handled. Afterwards no manifest is unconfirmed.
///
/// The deployer plans these resources one by one if they cannot be planned together. A kind that the cluster does not
/// serve any more has no objects, so it is no reason to fail.
pub async fn delete(
    run: &Run<'_>,
    before: &Deployment,
    objects: &mut Objects,
    known: &[AppliedObject],
    redaction: &Redaction,
) -> Result<Verdict, StepError> {
    let left = unconfirmed(run, objects).await?;
    if !left.is_empty() {
        let request = DeleteRequest {
            deployment: run.deployment().clone(),
            namespace: before.namespace.clone(),
            recorded: Vec::new(),
            unconfirmed: left,
            kept: known.iter().map(|known| known.object.clone()).collect(),
            hooks: None,
            delete_policy: run.record.options.policies.delete,
            allow_deletes: run.record.options.allow_deletes,
            // They belong to applies that did not end.
            restore_acquired: true,
            on_behalf_of: run.acting.clone(),
            timeout_ms: follow::left_ms(run.deadline),
            fence: None,
        };
        let job = Job::Delete(request.into());
        let Followed { ended, .. } = follow::job(run, job, 0, redaction).await?;
        match ended.map(|report| verdict::of(&report)) {
            Ok(Verdict::Fine) => {}
            Ok(failed) => return Ok(failed),
            Err(error) => return Ok(Verdict::Failed(error)),
        }
    }
    objects.unconfirmed.clear();
    Ok(Verdict::Fine)
}
