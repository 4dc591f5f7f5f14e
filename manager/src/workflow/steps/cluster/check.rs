//! Asks the deployer whether the resources can be planned, before anything is stored or applied.
//!
//! An unknown kind or a reference cycle is a fault of the configuration, like a failed expansion: nothing is stored.
//! The same holds for an update that would delete most of the deployment without permission.

use std::sync::Arc;

use common::api::deployer::CheckResponse;
use common::api::error::{ErrorBody, ErrorCode};
use common::model::DeletePolicy;

use crate::domain::deployment::deletes;
use crate::domain::operation::intent::Intent;
use crate::store::{StoreError, deployments};
use crate::workflow::step::{Done, Failure, Run, StepError};

/// The number of objects that the refusal names.
const NAMED: usize = 5;

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let (_, expansion) = run.source().await?;
    let resources = expansion.expanded_config.resources;
    let request = Arc::new(run.request(
        run.namespace().await?,
        resources,
        expansion.outputs,
        Vec::new(),
    ));
    let deployer = run.deployer();
    let check = || deployer.check(request.clone(), run.left());
    match run.dependencies.retry.persist(check).await {
        Ok(checked) => guard(run, &checked).await,
        Err(mut error) => {
            run.place(&mut error).await?;
            Err(Failure::clean(error).into())
        }
    }
}

async fn guard(run: &Run<'_>, checked: &CheckResponse) -> Result<Done, StepError> {
    if !is_guarded(run) {
        return Ok(Done::default());
    }
    match refusal(run, checked).await? {
        Some(error) => Err(Failure::clean(error).into()),
        None => Ok(Done::default()),
    }
}

/// A preview shows what would be deleted, so its commit needs no second permission.
fn is_guarded(run: &Run<'_>) -> bool {
    let options = &run.record.options;
    matches!(run.goal.intent, Intent::Update(_) | Intent::Rollback { .. })
        && !options.allow_deletes
        && options.policies.delete != Some(DeletePolicy::Abandon)
}

async fn refusal(
    run: &Run<'_>,
    checked: &CheckResponse,
) -> Result<Option<Box<ErrorBody>>, StoreError> {
    let recorded = deployments::objects(run.store(), run.deployment())
        .await?
        .recorded;
    let Some(pruned) = deletes::too_many(&recorded, &checked.objects) else {
        return Ok(None);
    };
    let named = pruned.iter().take(NAMED);
    let named: Vec<_> = named.map(|old| old.object.to_string()).collect();
    let more = if pruned.len() > NAMED { ", …" } else { "" };
    let message = format!(
        "this would delete {} of the {} objects of deployment '{}': {}{more}; if that is meant, repeat it with allowDeletes=true",
        pruned.len(),
        recorded.len(),
        run.deployment(),
        named.join(", ")
    );
    let error = ErrorBody::new(ErrorCode::DeletesNotAllowed, message);
    Ok(Some(Box::new(error)))
}
