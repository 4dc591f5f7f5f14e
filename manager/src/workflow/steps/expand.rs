//! Expands the configuration. A failure leaves nothing behind: the deployment, if there is one, stays as it was.

use crate::store::{Changes, operations};
use crate::workflow::expansion::Subject;
use crate::workflow::step::{Done, Failure, Run, StepError};

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let input = operations::input(run.store(), run.id()).await?;
    let subject = Subject {
        deployment: run.deployment().clone(),
        namespace: run.namespace().await?,
        manifest: run.manifest()?.clone(),
        user: run.record.operation.user.clone(),
        time: run.record.operation.start_time,
    };
    let expanded = run
        .tools
        .expansions
        .expand(&subject, input, run.deadline)
        .await;
    let mut expansion = expanded.map_err(Failure::clean)?;
    let warnings = std::mem::take(&mut expansion.warnings);
    let mut changes = Changes::default();
    operations::put_expansion(&mut changes, run.id(), &expansion)?;
    Ok(Done {
        changes,
        warnings,
        ..Done::default()
    })
}
