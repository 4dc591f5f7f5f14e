//! Removes the deployment and its manifests from the store. Its operations are kept.

use common::api::page::PageQuery;

use super::store::indexed;
use crate::domain::deployment;
use crate::store::{self, Changes, deployments, manifests};
use crate::workflow::step::{Done, Run, StepError};

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let Some(before) = deployments::get(run.store(), run.deployment()).await? else {
        return Ok(Done::default());
    };
    let old = indexed(run, Some(&before)).await?;
    forget_older_manifests(run).await?;
    let mut changes = Changes::default();
    manifests::delete(run.store(), &mut changes, run.deployment(), run.manifest()?).await?;
    store::instances::replace(run.store(), &mut changes, run.deployment(), &old, &[]).await?;
    deployments::delete(&mut changes, run.deployment());
    let deleted = deployment::deleted(before, jiff::Timestamp::now());
    Ok(Done {
        changes,
        deployment: Some(deleted),
        ..Done::default()
    })
}

/// One commit each: together they may be far larger than one commit should be. Nothing needs them any more.
async fn forget_older_manifests(run: &Run<'_>) -> Result<(), StepError> {
    let mut page = PageQuery::default();
    loop {
        let found = manifests::list(run.store(), run.deployment(), &page).await?;
        for manifest in found
            .items
            .iter()
            .filter(|found| Some(&found.name) != run.record.operation.manifest.as_ref())
        {
            let mut changes = Changes::default();
            manifests::delete(run.store(), &mut changes, run.deployment(), &manifest.name).await?;
            run.store().commit(changes).await?;
        }
        page.page_token = found.next_page_token;
        if page.page_token.is_none() {
            return Ok(());
        }
    }
}
