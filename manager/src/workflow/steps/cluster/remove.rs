//! Deletes every recorded object of the deployment from the cluster, and what an interrupted apply may have left.

use common::api::deployer::{DeleteRequest, Report};
use common::model::{Deployment, Resource};

use super::leftovers;
use super::verdict::{self, Verdict};
use crate::deployer::Job;
use crate::domain::operation::intent::Intent;
use crate::store::deployments;
use crate::store::deployments::Objects;
use crate::workflow::hooks;
use crate::workflow::job::follow;
use crate::workflow::step::{Done, Run, StepError};

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let before = run.stored().await?;
    let mut objects = deployments::objects(run.store(), run.deployment()).await?;
    let unconfirmed = leftovers::unconfirmed(run, &objects).await?;
    let hooks = hooks::of_delete(run, &objects).await?;
    if objects.recorded.is_empty() && unconfirmed.is_empty() && hooks.is_none() {
        return Ok(Done::default());
    }
    let total = objects.recorded.len() + unconfirmed.len();
    let redaction = run.redaction().await?;
    let mut request = request(run, &before, &objects, unconfirmed);
    let has_hooks = hooks.is_some();
    request.hooks = hooks;
    let followed = follow::job(run, Job::Delete(request.into()), total, &redaction).await?;
    let (mut warnings, mut report_of_hooks) = (Vec::new(), Report::default());
    let mut gone = Vec::new();
    let left = followed.objects(objects.recorded.clone());
    let mut verdict = match followed.ended {
        Ok(report) => {
            let verdict = verdict::of(&report);
            warnings = verdict::left_alone(&report);
            gone = match verdict {
                // Only the objects of its hooks are left.
                Verdict::Fine if has_hooks => report.objects.clone(),
                _ => hooks::to_remove(&report),
            };
            objects.recorded.clone_from(&report.objects);
            if matches!(verdict, Verdict::Fine) {
                objects.unconfirmed.clear();
            }
            report_of_hooks = report;
            verdict
        }
        Err(error) => {
            objects.recorded = left;
            Verdict::Failed(error)
        }
    };
    let stays = hooks::remove(
        run,
        &before,
        &report_of_hooks,
        gone,
        &mut objects,
        &redaction,
    );
    if let (Some(error), Verdict::Fine) = (stays.await?, &verdict) {
        verdict = Verdict::Failed(error);
    }
    let done = verdict::conclude(run, before, &objects, verdict).await?;
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
        hooks: None,
        delete_policy,
        allow_deletes: run.record.options.allow_deletes,
        // Only a requested deletion deletes objects that existed before the deployment.
        restore_acquired: !matches!(run.record.intent, Intent::Delete { .. }),
        on_behalf_of: run.acting.clone(),
        timeout_ms: follow::left_ms(run.deadline),
        fence: None,
    }
}
