//! Deletes what earlier applies may have left that never reported, once a later one is done.
//!
//! Such objects have no record, so the update cannot have pruned them; what they would be, their manifest tells. The
//! deployer deletes only those that say themselves that they belong to the deployment.

use std::collections::HashSet;

use common::api::deployer::DeleteRequest;
use common::model::{AppliedObject, Deployment, Resource};
use serde_json::json;

use super::verdict::{self, Verdict};
use crate::deployer::Job;
use crate::domain::redaction::Redaction;
use crate::store::deployments::Objects;
use crate::store::{StoreError, manifests};
use crate::workflow::follow::{self, Followed};
use crate::workflow::step::{Run, StepError};

/// The resources of all manifests whose apply never reported, each once: most tries were for the same.
pub async fn unconfirmed(run: &Run<'_>, objects: &Objects) -> Result<Vec<Resource>, StoreError> {
    let (mut resources, mut met) = (Vec::new(), HashSet::new());
    for manifest in &objects.unconfirmed {
        let more = manifests::expansion(run.store(), run.deployment(), manifest).await?;
        let more = more.resources.into_iter();
        resources.extend(more.filter(|resource| met.insert(json!(resource).to_string())));
    }
    Ok(resources)
}

/// `known` is all that the update itself has seen to. Afterwards nothing is unconfirmed any more.
///
/// The deployer plans these resources one by one where they make no plan together: what is of a kind that the cluster
/// serves no more has no objects, so it is no reason to fail.
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
            delete_policy: run.record.options.policies.delete,
            allow_deletes: run.record.options.allow_deletes,
            // These are of applies that never came to their end.
            restore_acquired: true,
            on_behalf_of: run.acting.clone(),
            timeout_ms: follow::left_ms(run.deadline),
            fence: None,
        };
        let Followed { ended, .. } = follow::job(run, Job::Delete(request), 0, redaction).await;
        match ended.map(|report| verdict::of(&report)) {
            Ok(Verdict::Fine) => {}
            Ok(failed) => return Ok(failed),
            Err(error) => return Ok(Verdict::Failed(error)),
        }
    }
    objects.unconfirmed.clear();
    Ok(Verdict::Fine)
}
