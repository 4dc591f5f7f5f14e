//! Makes a stored manifest the latest one: a committed preview, or the latest manifest itself if it is applied again.

use super::store;
use crate::domain::operation::intent::Intent;
use crate::store::{Changes, manifests};
use crate::workflow::step::{Done, Run, StepError};

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let mut changes = Changes::default();
    store::unconfirm(run, &mut changes).await?;
    if run.goal.intent == Intent::Correct {
        return Ok(Done {
            changes,
            ..Done::default()
        });
    }
    let layout = manifests::layout(run.store(), run.deployment(), run.manifest()?).await?;
    store::advance(run, changes, &layout).await
}
