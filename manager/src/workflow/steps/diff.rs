//! Computes what applying the configuration would do.

use crate::store::{Changes, deployments, operations};
use crate::workflow::diff;
use crate::workflow::step::{Done, Failure, Run, StepError};

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let (_, expansion) = run.source().await?;
    let recorded = deployments::objects(run.store(), run.deployment())
        .await?
        .recorded;
    let resources = expansion.expanded_config.resources;
    let request = run.request(
        run.namespace().await?,
        resources,
        expansion.outputs,
        recorded,
    );
    let dependencies = run.dependencies;
    let found = diff::diff(
        &*dependencies.deployer,
        &dependencies.retry,
        request,
        run.deadline,
    )
    .await;
    let report = match found {
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
