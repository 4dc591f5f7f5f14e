//! Computes what applying the configuration would do.

use common::api::deployer::DiffReport;
use common::api::error::ErrorBody;

use crate::store::{Changes, deployments, operations};
use crate::workflow::step::{Done, Failure, Run, StepError};
use crate::workflow::{diff, hooks};

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let report = match differences(run).await? {
        Ok(report) => report,
        Err(mut error) => {
            run.place(&mut error).await?;
            return Err(Failure::clean(error).into());
        }
    };
    let mut changes = Changes::default();
    operations::put_diff(&mut changes, run.id(), &report)?;
    Ok(Done {
        changes,
        ..Done::default()
    })
}

/// What applying the configuration would do, or why the deployer does not say.
pub async fn differences(run: &Run<'_>) -> Result<Result<DiffReport, Box<ErrorBody>>, StepError> {
    let (_, expansion) = run.source().await?;
    let objects = deployments::objects(run.store(), run.deployment()).await?;
    let resources = expansion.expanded_config.resources;
    let hooks = hooks::of_apply(run, &resources, &objects).await?;
    let recorded = objects.recorded;
    let mut request = run.request(
        run.namespace().await?,
        resources,
        expansion.outputs,
        recorded,
    );
    request.hooks = hooks;
    let dependencies = run.dependencies;
    Ok(diff::diff(&*run.deployer(), &dependencies.retry, request, run.deadline).await)
}
