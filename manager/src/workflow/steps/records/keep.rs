//! Stores the preview: a manifest, with what applying it would do. A new deployment exists from here on, without a
//! latest manifest.

use std::sync::Arc;

use common::api::deployer::ResourceDiff;
use common::model::{Deployment, DiffSummary, Preview};

use super::store;
use crate::domain::deployment;
use crate::domain::redaction::Redaction;
use crate::store::manifests::Private;
use crate::store::{Changes, StoreError, deployments, manifests, operations};
use crate::workflow::expansion::redacting;
use crate::workflow::step::{Done, Run, StepError};

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let before = deployments::get(run.store(), run.deployment()).await?;
    let mut changes = Changes::default();
    store::drop_preview(run, &mut changes, before.as_ref()).await?;
    let base = before
        .as_ref()
        .and_then(|before| before.latest_manifest.clone());
    let found = operations::diff(run.store(), run.id()).await?.resources;
    let redaction = run.redaction().await?;
    let hide = |redaction: &Redaction, diffs: &mut Vec<ResourceDiff>| {
        diffs.iter_mut().for_each(|diff| redaction.diff(diff));
    };
    let resources = redacting::redacted(&redaction, found, hide).await;
    let (input, mut expansion) = run.source().await?;
    let private = Private::of(&mut expansion);
    let revision = store::next_revision(run, before.as_ref()).await?;
    let mut manifest = store::manifest(run, input, expansion, revision)?;
    manifest.preview = Some(Preview {
        base,
        policies: run.record.options.policies,
        without_hooks: run.record.options.without_hooks,
        summary: DiffSummary::summarize(&resources),
        resources,
    });
    let (name, manifest) = (manifest.name.clone(), Arc::new(manifest));
    let templates = run.templates().await?;
    let store = run.store();
    manifests::put(store, &mut changes, &manifest, templates, private, None).await?;
    let after = deployment::previewed(begun(run, before)?, Some(name.clone()));
    deployments::put(&mut changes, &after)?;
    Ok(Done {
        changes,
        deployment: Some(after),
        manifest: Some(name),
        ..Done::default()
    })
}

/// The deployment, which may be new.
fn begun(run: &Run<'_>, before: Option<Deployment>) -> Result<Deployment, StoreError> {
    let operation = &run.record.operation;
    let name = operation.deployment.clone();
    match (before, run.goal.intent.new_deployment()) {
        (Some(before), _) => Ok(before),
        (None, Some(new)) => {
            let (id, now) = (operation.id.clone(), operation.start_time);
            Ok(deployment::created(name, new, id, now))
        }
        (None, None) => Err(StoreError::Missing(format!("deployment {name}"))),
    }
}
