//! Makes a manifest that is stored already the latest one, to be applied: a preview that is committed, or the latest
//! manifest itself, of which objects may come to be made anew.

use super::store;
use crate::domain::intent::Intent;
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
