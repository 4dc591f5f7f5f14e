//! Stores the manifest and makes it the deployment's latest one. A new deployment exists from here on.

use std::sync::Arc;

use common::api::manager::{Expansion, TypeInstance};
use common::model::{Deployment, InputConfig, Layout, Manifest, ManifestName};

use crate::domain::manifest::instances;
use crate::domain::operation::intent::Intent;
use crate::domain::{deployment, manifest};
use crate::store::manifests::Private;
use crate::store::{self, Changes, StoreError, deployments, manifests};
use crate::workflow::step::{Done, Run, StepError};

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let mut changes = Changes::default();
    unconfirm(run, &mut changes).await?;
    write(run, changes).await
}

/// If the manager crashes between this commit and the report of the apply, the new objects must not be forgotten.
pub async fn unconfirm(run: &Run<'_>, changes: &mut Changes) -> Result<(), StoreError> {
    let mut objects = deployments::objects(run.store(), run.deployment()).await?;
    if !objects.unconfirmed.contains(run.manifest()?) {
        objects.unconfirmed.push(run.manifest()?.clone());
    }
    objects.applied = Some(run.manifest()?.clone());
    // A correction uses the recorded input.
    if run.goal.intent != Intent::Correct {
        objects.policies = run.record.options.policies;
    }
    deployments::put_objects(run.store(), changes, run.deployment(), &objects).await
}

/// Writes the manifest, the deployment that points to it, and the index of its instances.
pub async fn write(run: &Run<'_>, mut changes: Changes) -> Result<Done, StepError> {
    let (input, mut expansion) = run.source().await?;
    let private = Private::of(&mut expansion);
    let before = deployments::get(run.store(), run.deployment()).await?;
    let revision = next_revision(run, before.as_ref()).await?;
    let manifest = Arc::new(manifest(run, input, expansion, revision)?);
    let templates = run.templates().await?;
    let now = Some(run.record.operation.start_time);
    let (store, manifest) = (run.store(), manifest);
    manifests::put(store, &mut changes, &manifest, templates, private, now).await?;
    advance(run, changes, &manifest.layout).await
}

pub fn manifest(
    run: &Run<'_>,
    input: InputConfig,
    expansion: Expansion,
    revision: u64,
) -> Result<Manifest, StoreError> {
    let (name, deployment) = (run.manifest()?.clone(), run.deployment().clone());
    let now = run.record.operation.start_time;
    Ok(manifest::assemble(
        name, deployment, input, expansion, revision, now,
    ))
}

/// The number of the deployment's next manifest. A preview has it too, and keeps it if it is committed.
pub async fn next_revision(run: &Run<'_>, before: Option<&Deployment>) -> Result<u64, StoreError> {
    let Some(before) = before else {
        return Ok(1);
    };
    let last = match (before.revision, &before.latest_manifest) {
        (Some(revision), _) => revision,
        (None, None) => 0,
        // The manifests of the first managers have no numbers.
        (None, Some(_)) => {
            let stored = manifests::count(run.store(), run.deployment()).await?;
            let applied = stored.saturating_sub(usize::from(before.preview.is_some()));
            u64::try_from(applied).unwrap_or(u64::MAX)
        }
    };
    Ok(last + 1)
}

/// Makes the operation's manifest the latest one.
pub async fn advance(
    run: &Run<'_>,
    mut changes: Changes,
    layout: &Layout,
) -> Result<Done, StepError> {
    let name = run.manifest()?.clone();
    let before = deployments::get(run.store(), run.deployment()).await?;
    drop_preview(run, &mut changes, before.as_ref()).await?;
    let old = indexed(run, before.as_ref()).await?;
    let new = instances::of_layout(run.deployment(), &name, layout);
    store::manifests::instances::replace(run.store(), &mut changes, run.deployment(), &old, &new)?;
    let revision = next_revision(run, before.as_ref()).await?;
    pass_on(run, &mut changes, before.as_ref(), &name).await?;
    let after = changed(run, before, name.clone(), revision)?;
    deployments::put(&mut changes, &after)?;
    let writer = run.record.identity.as_ref();
    deployments::put_writer(&mut changes, run.deployment(), writer)?;
    Ok(Done {
        changes,
        deployment: Some(after),
        manifest: Some(name),
        ..Done::default()
    })
}

/// Records that the operation's manifest is in force from now on, and the one before it no longer.
async fn pass_on(
    run: &Run<'_>,
    changes: &mut Changes,
    before: Option<&Deployment>,
    name: &ManifestName,
) -> Result<(), StoreError> {
    let (store, deployment) = (run.store(), run.deployment());
    let now = run.record.operation.start_time;
    manifests::enter(store, changes, deployment, name, now).await?;
    match before.and_then(|before| before.latest_manifest.as_ref()) {
        Some(old) if old != name => manifests::leave(store, changes, deployment, old, now).await,
        _ => Ok(()),
    }
}

/// Deletes an earlier preview, unless it is the manifest that is applied now.
pub async fn drop_preview(
    run: &Run<'_>,
    changes: &mut Changes,
    before: Option<&Deployment>,
) -> Result<(), StoreError> {
    let old = before.and_then(|before| before.preview.as_ref());
    match old.filter(|old| Some(*old) != run.goal.manifest.as_ref()) {
        Some(old) => manifests::delete(run.store(), changes, run.deployment(), old).await,
        None => Ok(()),
    }
}

/// The indexed types of the deployment: those of its latest manifest.
pub async fn indexed(
    run: &Run<'_>,
    deployment: Option<&Deployment>,
) -> Result<Vec<TypeInstance>, StoreError> {
    let Some(name) = deployment.and_then(|deployment| deployment.latest_manifest.as_ref()) else {
        return Ok(Vec::new());
    };
    let layout = manifests::layout(run.store(), run.deployment(), name).await?;
    Ok(instances::of_layout(run.deployment(), name, &layout))
}

fn changed(
    run: &Run<'_>,
    before: Option<Deployment>,
    manifest: ManifestName,
    revision: u64,
) -> Result<Deployment, StoreError> {
    let operation = &run.record.operation;
    let (deployment, now) = (operation.deployment.clone(), operation.start_time);
    let described = match (&run.goal.intent, before) {
        (Intent::Create(new), _) => deployment::created(deployment, new, operation.id.clone(), now),
        (Intent::Update(change) | Intent::Commit(change), Some(before)) => {
            deployment::described(before, change)
        }
        (_, Some(before)) => before,
        (_, None) => return Err(StoreError::Missing(format!("deployment {deployment}"))),
    };
    Ok(deployment::advanced(described, manifest, revision, now))
}
