//! Says that the deployment is deployed.

use crate::domain::deployment;
use crate::store::{Changes, StoreError, deployments, manifests};
use crate::workflow::step::{Done, Run, StepError};

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let name = run.manifest()?;
    let head = manifests::head(run.store(), run.deployment(), name).await?;
    let head = head.ok_or_else(|| {
        StoreError::Missing(format!(
            "manifest {name} of deployment {}",
            run.deployment()
        ))
    })?;
    let deployed = deployment::deployed(run.stored().await?, head.outputs, jiff::Timestamp::now());
    let mut changes = Changes::default();
    deployments::put(&mut changes, &deployed)?;
    Ok(Done {
        changes,
        deployment: Some(deployed),
        ..Done::default()
    })
}
