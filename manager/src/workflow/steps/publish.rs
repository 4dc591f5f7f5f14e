//! Says that the deployment is deployed.

use crate::domain::deployment;
use crate::store::{Changes, deployments};
use crate::workflow::step::{Done, Run, StepError};

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let deployed = deployment::deployed(run.stored().await?, jiff::Timestamp::now());
    let mut changes = Changes::default();
    deployments::put(&mut changes, &deployed)?;
    Ok(Done {
        changes,
        deployment: Some(deployed),
        ..Done::default()
    })
}
