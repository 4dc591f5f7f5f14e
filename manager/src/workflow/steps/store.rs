//! Stores the manifest and makes it the deployment's latest one; a new deployment begins to exist here.

use common::api::manager::Expansion;
use common::model::{Deployment, InputConfig, ManifestName};

use crate::domain::operation::Intent;
use crate::domain::{deployment, instances, manifest};
use crate::store::{self, Changes, StoreError, deployments, manifests, operations};
use crate::workflow::step::{Done, Run, StepError};

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let input = operations::input(run.store(), run.id()).await?;
    let expansion = operations::expansion(run.store(), run.id()).await?;
    // A crash between this commit and an apply that reports must not make the new objects forgotten.
    let mut objects = deployments::objects(run.store(), run.deployment()).await?;
    if !objects.unconfirmed.contains(run.manifest()?) {
        objects.unconfirmed.push(run.manifest()?.clone());
    }
    let mut changes = Changes::default();
    deployments::put_objects(&mut changes, run.deployment(), &objects)?;
    write(run, changes, input, expansion).await
}

/// The manifest, the deployment with it, and the index of its instances.
pub async fn write(
    run: &Run<'_>,
    mut changes: Changes,
    input: InputConfig,
    expansion: Expansion,
) -> Result<Done, StepError> {
    let name = run.manifest()?.clone();
    let now = run.record.operation.start_time;
    let manifest = manifest::assemble(
        name.clone(),
        run.deployment().clone(),
        input,
        expansion,
        now,
    );
    manifests::put(run.store(), &mut changes, &manifest).await?;
    let before = deployments::get(run.store(), run.deployment()).await?;
    let old = indexed(run, before.as_ref()).await?;
    let new = instances::of_layout(run.deployment(), &name, &manifest.layout);
    store::instances::replace(&mut changes, run.deployment(), &old, &new)?;
    let after = changed(run, before, name)?;
    deployments::put(&mut changes, &after)?;
    Ok(Done {
        changes,
        deployment: Some(after),
        ..Done::default()
    })
}

/// What the index says of the deployment now: what its latest manifest says.
pub async fn indexed(
    run: &Run<'_>,
    deployment: Option<&Deployment>,
) -> Result<Vec<common::api::manager::TypeInstance>, StoreError> {
    let Some(name) = deployment.and_then(|deployment| deployment.latest_manifest.as_ref()) else {
        return Ok(Vec::new());
    };
    let layout = manifests::layout(run.store(), run.deployment(), name).await?;
    Ok(instances::of_layout(run.deployment(), name, &layout))
}

fn changed(
    run: &Run<'_>,
    before: Option<Deployment>,
    name: ManifestName,
) -> Result<Deployment, StoreError> {
    let operation = &run.record.operation;
    match (&run.record.intent, before) {
        (
            Intent::Create {
                namespace,
                description,
                labels,
            },
            _,
        ) => Ok(deployment::created(
            operation.deployment.clone(),
            namespace.clone(),
            description.clone(),
            labels.clone(),
            name,
            operation.id.clone(),
            operation.start_time,
        )),
        (
            Intent::Update {
                description,
                labels,
            },
            Some(mut before),
        ) => {
            before.description = description.clone().unwrap_or(before.description);
            before.labels = labels.clone().unwrap_or(before.labels);
            Ok(deployment::modified(before, name, operation.start_time))
        }
        (Intent::Delete { .. }, Some(before)) => {
            Ok(deployment::modified(before, name, operation.start_time))
        }
        (Intent::Update { .. } | Intent::Delete { .. }, None) => Err(StoreError::Missing(format!(
            "deployment {}",
            run.deployment()
        ))),
    }
}
