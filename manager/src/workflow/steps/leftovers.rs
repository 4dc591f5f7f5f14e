//! Deletes what earlier applies may have left that never reported, once a later one is done.
//!
//! Such objects have no record, so the update cannot have pruned them; what they would be, their manifest tells. The
//! deployer deletes only those that say themselves that they belong to the deployment.

use std::collections::HashSet;

use common::api::deployer::DeleteRequest;
use common::api::error::ErrorBody;
use common::model::{AppliedObject, Deployment, ManifestName, ObjectRef, Resource};
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
pub async fn delete(
    run: &Run<'_>,
    before: &Deployment,
    objects: &mut Objects,
    known: &[AppliedObject],
    redaction: &Redaction,
) -> Result<Verdict, StepError> {
    let mut left = Vec::new();
    for manifest in &objects.unconfirmed {
        match leftovers(run, before, known, manifest).await? {
            Ok(more) => left.extend(more),
            Err(error) => return Ok(Verdict::Failed(error)),
        }
    }
    if !left.is_empty() {
        let request = DeleteRequest {
            deployment: run.deployment().clone(),
            namespace: before.namespace.clone(),
            recorded: Vec::new(),
            unconfirmed: left,
            delete_policy: run.record.options.policies.delete,
            on_behalf_of: run.acting.clone(),
            timeout_ms: follow::left_ms(run.deadline),
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

/// The resources of a manifest whose objects nobody has seen to.
async fn leftovers(
    run: &Run<'_>,
    before: &Deployment,
    known: &[AppliedObject],
    manifest: &ManifestName,
) -> Result<Result<Vec<Resource>, Box<ErrorBody>>, StepError> {
    let resources = manifests::expansion(run.store(), run.deployment(), manifest)
        .await?
        .resources;
    let namespace = before.namespace.clone();
    let request = run.request(namespace, resources.clone(), Vec::new(), Vec::new());
    let check = || run.tools.deployer.check(&request, run.left());
    let checked = match run.tools.retry.persist(check).await {
        Ok(checked) => checked,
        Err(error) => return Ok(Err(error)),
    };
    let is_known = |object: &ObjectRef| {
        let mut known = known.iter();
        known.any(|known| known.object.is_same_object(object))
    };
    let unknown = resources.into_iter().zip(checked.objects);
    let unknown = unknown.filter(|(_, object)| !is_known(object));
    Ok(Ok(unknown.map(|(resource, _)| resource).collect()))
}
