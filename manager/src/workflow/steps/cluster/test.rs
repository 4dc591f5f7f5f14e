//! Runs the test hooks of the deployment's charts. Nothing else is applied, and the deployment stays as it is.

use common::api::deployer::Report;
use common::api::error::{ErrorBody, ErrorCode};

use super::verdict::{self, Verdict};
use crate::deployer::Job;
use crate::store::{Changes, deployments, manifests};
use crate::workflow::hooks;
use crate::workflow::job::follow;
use crate::workflow::step::{Done, Failure, Run, StepError};

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let before = run.stored().await?;
    let (store, name) = (run.store(), run.deployment());
    let mut objects = deployments::objects(store, name).await?;
    let resources = manifests::expansion(store, name, run.manifest()?)
        .await?
        .resources;
    let Some(tests) = hooks::of_test(run, &resources, &objects).await? else {
        return Err(Failure::clean(without_tests(run)).into());
    };
    let (namespace, recorded) = (before.namespace.clone(), objects.recorded.clone());
    let total = hooks::tests(&resources);
    let mut request = run.request(namespace, resources, Vec::new(), recorded);
    request.hooks = Some(tests);
    let redaction = run.redaction().await?;
    let followed = follow::job(run, Job::Update(request.into()), total, &redaction).await?;
    let left = followed.objects(objects.recorded.clone());
    let (mut verdict, mut report) = match followed.ended {
        Ok(report) => (verdict::of(&report), report),
        Err(error) => (
            Verdict::Failed(error),
            Report {
                objects: left,
                ..Report::default()
            },
        ),
    };
    objects.recorded = std::mem::take(&mut report.objects);
    let gone = hooks::to_remove(&report);
    let stays = hooks::remove(run, &before, &report, gone, &mut objects, &redaction);
    if let (Some(error), Verdict::Fine) = (stays.await?, &verdict) {
        verdict = Verdict::Failed(error);
    }
    let mut changes = Changes::default();
    deployments::put_objects(store, &mut changes, name, &objects).await?;
    match verdict {
        Verdict::Fine => Ok(Done {
            changes,
            ..Done::default()
        }),
        Verdict::Failed(mut error) => {
            run.place(&mut error).await?;
            Err(Failure {
                error,
                changes,
                deployment: None,
            }
            .into())
        }
    }
}

fn without_tests(run: &Run<'_>) -> Box<ErrorBody> {
    let message = format!(
        "no chart of deployment '{}' has test hooks: objects with the annotation helm.sh/hook: test",
        run.deployment()
    );
    Box::new(ErrorBody::new(ErrorCode::InvalidRequest, message))
}
