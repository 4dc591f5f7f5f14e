//! Expands the configuration. A failure leaves nothing behind: the deployment, if there is one, stays as it was.
//!
//! Where a reference that the latest manifest has too resolves to something else by now, the operation says so.

use crate::domain::intent::Intent;
use crate::domain::resolution;
use crate::store::{Changes, operations};
use crate::workflow::choice::{self, Choice, Latest};
use crate::workflow::expansion::{Expanded, Subject};
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
    let latest = choice::latest(run.store(), run.deployment()).await?;
    let choice = chosen(run, latest.as_ref()).await?;
    let expanded = run
        .tools
        .expansions
        .expand(&subject, input, &choice, run.deadline)
        .await;
    let Expanded {
        mut expansion,
        templates,
    } = expanded.map_err(Failure::clean)?;
    let mut warnings = std::mem::take(&mut expansion.warnings);
    let before = latest.map(|latest| latest.resolved).unwrap_or_default();
    warnings.extend(resolution::changes(&before, &expansion.resolved_types));
    let mut changes = Changes::default();
    operations::put_expansion(&mut changes, run.id(), &expansion, &templates)?;
    Ok(Done {
        changes,
        warnings,
        ..Done::default()
    })
}

/// What references are to mean.
async fn chosen(run: &Run<'_>, latest: Option<&Latest>) -> Result<Choice, StepError> {
    let upgrade = match &run.aim.intent {
        Intent::Update(change) => change.upgrade.as_ref(),
        _ => None,
    };
    let record = || choice::record(run.store(), run.deployment(), latest);
    match upgrade {
        Some(template) => {
            let record = record().await?;
            let found = run.tools.expansions.instead(template, false).await;
            let (instead, _) = found.map_err(Failure::clean)?;
            Ok(Choice::Instead(record, instead))
        }
        None if run.record.options.locked => Ok(Choice::Locked(record().await?)),
        None => Ok(Choice::Latest),
    }
}
