//! Brings the cluster to the manifest: what it lists is applied and ready, what is recorded and not listed is pruned.

use common::api::deployer::ApplyRequest;

use super::verdict::{self, Verdict};
use crate::deployer::Job;
use crate::domain::deployment;
use crate::domain::operation::Intent;
use crate::store::{Changes, deployments, manifests};
use crate::workflow::follow::{self, Followed};
use crate::workflow::step::{Done, Failure, Run, StepError};

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let before = run.stored().await?;
    let name = run.manifest()?;
    let resources = manifests::expansion(run.store(), run.deployment(), name)
        .await?
        .resources;
    let mut objects = deployments::objects(run.store(), run.deployment()).await?;
    let total = resources.len();
    let request = ApplyRequest {
        deployment: run.deployment().clone(),
        namespace: before.namespace.clone(),
        resources,
        recorded: objects.recorded.clone(),
        timeout_ms: follow::left_ms(run.deadline),
    };
    let job = match run.record.intent {
        Intent::Create { .. } => Job::Create(request),
        Intent::Update { .. } | Intent::Delete { .. } => Job::Update(request),
    };
    let Followed { seen, ended } = follow::job(run, job, total).await;
    let verdict = match ended {
        Ok(report) => {
            let verdict = verdict::of(&report);
            objects.recorded = report.objects;
            objects.unconfirmed.retain(|manifest| manifest != name);
            verdict
        }
        Err(error) => {
            objects.recorded = follow::merged(objects.recorded, seen);
            Verdict::Failed(error)
        }
    };
    let mut changes = Changes::default();
    deployments::put_objects(&mut changes, run.deployment(), &objects)?;
    match verdict {
        Verdict::Fine => Ok(Done {
            changes,
            ..Done::default()
        }),
        Verdict::Failed(mut error) => {
            run.place(&mut error).await?;
            let failed = deployment::failed(before, &error);
            deployments::put(&mut changes, &failed)?;
            Err(Failure {
                error,
                changes,
                deployment: Some(failed),
            }
            .into())
        }
    }
}
