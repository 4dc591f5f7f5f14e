//! Removes the deployment and its manifests from the store. Its operations are kept.

use super::store::indexed;
use crate::domain::deployment;
use crate::store::{self, Changes, deployments, manifests};
use crate::workflow::step::{Done, Run, StepError};

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let Some(before) = deployments::get(run.store(), run.deployment()).await? else {
        return Ok(Done::default());
    };
    let old = indexed(run, Some(&before)).await?;
    manifests::delete_all_but(run.store(), run.deployment(), run.manifest()?).await?;
    let mut changes = Changes::default();
    manifests::delete(run.store(), &mut changes, run.deployment(), run.manifest()?).await?;
    store::manifests::instances::replace(run.store(), &mut changes, run.deployment(), &old, &[])?;
    deployments::delete(&mut changes, run.deployment());
    let deleted = deployment::deleted(before, jiff::Timestamp::now());
    Ok(Done {
        changes,
        deployment: Some(deleted),
        ..Done::default()
    })
}
