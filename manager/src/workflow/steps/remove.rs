//! Deletes every recorded object of the deployment from the cluster, and what an interrupted apply may have left.

use common::api::deployer::DeleteRequest;
use common::model::{Deployment, Resource};

use super::leftovers;
use super::verdict::{self, Verdict};
use crate::deployer::Job;
use crate::domain::intent::Intent;
use crate::store::deployments;
use crate::store::deployments::Objects;
use crate::workflow::follow;
use crate::workflow::step::{Done, Run, StepError};

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let before = run.stored().await?;
    let mut objects = deployments::objects(run.store(), run.deployment()).await?;
    let unconfirmed = leftovers::unconfirmed(run, &objects).await?;
    if objects.recorded.is_empty() && unconfirmed.is_empty() {
        return Ok(Done::default());
    }
    let total = objects.recorded.len() + unconfirmed.len();
    let followed = follow::job(
        run,
        Job::Delete(request(run, &before, &objects, unconfirmed).into()),
        total,
        &run.redaction().await?,
    )
    .await?;
    let mut warnings = Vec::new();
    let left = followed.objects(objects.recorded.clone());
    let verdict = match followed.ended {
        Ok(report) => {
            let verdict = verdict::of(&report);
            warnings = verdict::left_alone(&report);
            objects.recorded = report.objects;
            if matches!(verdict, Verdict::Fine) {
                objects.unconfirmed.clear();
            }
            verdict
        }
        Err(error) => {
            objects.recorded = left;
            Verdict::Failed(error)
        }
    };
    let done = verdict::conclude(&run.goal.intent, before, &objects, verdict)?;
    Ok(Done { warnings, ..done })
}

fn request(
    run: &Run<'_>,
    before: &Deployment,
    objects: &Objects,
    unconfirmed: Vec<Resource>,
) -> DeleteRequest {
    let delete_policy = match run.goal.intent {
        Intent::Delete { delete_policy } => delete_policy,
        _ => None,
    };
    DeleteRequest {
        deployment: run.deployment().clone(),
        namespace: before.namespace.clone(),
        recorded: objects.recorded.clone(),
        unconfirmed,
        kept: Vec::new(),
        delete_policy,
        allow_deletes: run.record.options.allow_deletes,
        // Only a requested deletion deletes objects that existed before the deployment.
        restore_acquired: !matches!(run.record.intent, Intent::Delete { .. }),
        on_behalf_of: run.acting.clone(),
        timeout_ms: follow::left_ms(run.deadline),
        fence: None,
    }
}
