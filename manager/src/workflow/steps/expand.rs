//! Expands the configuration. A failure leaves nothing behind: the deployment, if there is one, stays as it was.

use common::model::Namespace;

use crate::domain::operation::Intent;
use crate::store::{Changes, StoreError, operations};
use crate::workflow::expansion::Subject;
use crate::workflow::step::{Done, Failure, Run, StepError};

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let input = operations::input(run.store(), run.id()).await?;
    let subject = Subject {
        deployment: run.deployment().clone(),
        namespace: namespace(run).await?,
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
        deployment: None,
    })
}

/// The deployment's namespace: the one it is created in, or the one it has.
pub async fn namespace(run: &Run<'_>) -> Result<Namespace, StoreError> {
    match &run.record.intent {
        Intent::Create { namespace, .. } => Ok(namespace.clone()),
        Intent::Update { .. } | Intent::Delete { .. } => Ok(run.stored().await?.namespace),
    }
}
