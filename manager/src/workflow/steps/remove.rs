//! Deletes from the cluster all that is recorded of the deployment, and all that an interrupted apply may have left.

use std::collections::HashSet;

use common::api::deployer::DeleteRequest;
use common::model::{Deployment, Resource};
use serde_json::json;

use super::verdict::{self, Verdict};
use crate::deployer::Job;
use crate::domain::operation::Intent;
use crate::store::deployments::Objects;
use crate::store::{StoreError, deployments, manifests};
use crate::workflow::follow::{self, Followed};
use crate::workflow::step::{Done, Run, StepError};

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let before = run.stored().await?;
    let mut objects = deployments::objects(run.store(), run.deployment()).await?;
    let unconfirmed = unconfirmed(run, &objects).await?;
    if objects.recorded.is_empty() && unconfirmed.is_empty() {
        return Ok(Done::default());
    }
    let total = objects.recorded.len() + unconfirmed.len();
    let Followed { ended, .. } = follow::job(
        run,
        Job::Delete(request(run, &before, &objects, unconfirmed)),
        total,
    )
    .await;
    let verdict = match ended {
        Ok(report) => {
            let verdict = verdict::of(&report);
            objects.recorded = report.objects;
            if matches!(verdict, Verdict::Fine) {
                objects.unconfirmed.clear();
            }
            verdict
        }
        Err(error) => Verdict::Failed(error),
    };
    verdict::conclude(before, &objects, verdict)
}

/// The resources of all manifests whose apply never reported, each once: most tries were for the same.
async fn unconfirmed(run: &Run<'_>, objects: &Objects) -> Result<Vec<Resource>, StoreError> {
    let (mut resources, mut met) = (Vec::new(), HashSet::new());
    for manifest in &objects.unconfirmed {
        let more = manifests::expansion(run.store(), run.deployment(), manifest).await?;
        let more = more.resources.into_iter();
        resources.extend(more.filter(|resource| met.insert(json!(resource).to_string())));
    }
    Ok(resources)
}

fn request(
    run: &Run<'_>,
    before: &Deployment,
    objects: &Objects,
    unconfirmed: Vec<Resource>,
) -> DeleteRequest {
    let delete_policy = match run.record.intent {
        Intent::Delete { delete_policy } => delete_policy,
        Intent::Create { .. } | Intent::Update { .. } => None,
    };
    DeleteRequest {
        deployment: run.deployment().clone(),
        namespace: before.namespace.clone(),
        recorded: objects.recorded.clone(),
        unconfirmed,
        delete_policy,
        timeout_ms: follow::left_ms(run.deadline),
    }
}
