//! Marks the deployment as deployed, and deletes manifests that need not be kept.

use common::api::page::PageQuery;
use common::model::{Deployment, ManifestName};

use crate::domain::deployment;
use crate::domain::operation::correction::{UNCHECKED, is_unchecked};
use crate::domain::operation::intent::Intent;
use crate::store::{Changes, StoreError, deployments, manifests};
use crate::workflow::step::{Done, Run, StepError};

/// The number of manifests that one operation deletes. They may be large, and all of this is one commit.
const DROPPED_AT_ONCE: usize = 4;

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let deployed = deployment::deployed(run.stored().await?, jiff::Timestamp::now());
    let mut changes = Changes::default();
    for manifest in surplus(run, &deployed).await? {
        manifests::delete(run.store(), &mut changes, run.deployment(), &manifest).await?;
    }
    deployments::put(&mut changes, &deployed)?;
    // Only a write that sets the policy warns of it.
    let sets_policy = match &run.goal.intent {
        Intent::Create(_) => true,
        Intent::Update(change) | Intent::Commit(change) => change.drift_policy.is_some(),
        _ => false,
    };
    let unchecked = is_unchecked(deployed.drift_policy, run.dependencies.drift_checks);
    let warning = (sets_policy && unchecked).then(|| UNCHECKED.to_owned());
    Ok(Done {
        changes,
        deployment: Some(deployed),
        warnings: warning.into_iter().collect(),
        ..Done::default()
    })
}

/// The oldest manifests beyond the number to keep, except those that something still refers to.
async fn surplus(run: &Run<'_>, deployment: &Deployment) -> Result<Vec<ManifestName>, StoreError> {
    let Some(keep) = run.dependencies.keep_manifests else {
        return Ok(Vec::new());
    };
    let unconfirmed = deployments::objects(run.store(), run.deployment())
        .await?
        .unconfirmed;
    let needed = |name: &ManifestName| {
        deployment.latest_manifest.as_ref() == Some(name)
            || deployment.preview.as_ref() == Some(name)
            || unconfirmed.contains(name)
    };
    let page = PageQuery {
        limit: Some(keep + DROPPED_AT_ONCE),
        page_token: None,
    };
    let stored = manifests::list(run.store(), run.deployment(), &page)
        .await?
        .items;
    let too_many = stored.len().saturating_sub(keep);
    let oldest = stored
        .into_iter()
        .map(|summary| summary.name)
        .take(too_many);
    Ok(oldest.filter(|name| !needed(name)).collect())
}
