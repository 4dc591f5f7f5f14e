//! What becomes of objects on record that are not desired any more.

use common::api::deployer::{ResourceDiff, ResourceIntent};
use common::api::error::ErrorBody;
use common::model::{AppliedObject, DeletePolicy, ObjectRef};
use serde_json::Value;

use super::super::item::Target;
use super::super::{BATCH, Context, Stopped, change, ownership};
use super::read;
use crate::kubectl::KubectlError;
use crate::plan::Plan;

/// In the order in which they would go.
pub async fn diffs(
    context: Context<'_>,
    plan: &Plan,
    recorded: &[AppliedObject],
    delete: Option<DeletePolicy>,
) -> Result<Vec<ResourceDiff>, Stopped> {
    let superfluous = super::super::superfluous(plan, recorded)?;
    let mut found = Vec::with_capacity(superfluous.len());
    for batch in superfluous.chunks(BATCH) {
        context.events.listened()?;
        let objects: Vec<&ObjectRef> = batch.iter().map(|target| &target.object).collect();
        for (target, live) in batch.iter().zip(read(context, &objects).await?) {
            found.push(diff(context, target, live, delete));
        }
    }
    Ok(found)
}

fn diff(
    context: Context<'_>,
    target: &Target,
    live: Result<Option<Value>, KubectlError>,
    delete: Option<DeletePolicy>,
) -> ResourceDiff {
    let (live, error) = match live {
        Ok(live) => (live, None),
        Err(error) => (None, Some(ErrorBody::from(error))),
    };
    let ours = |live: &&Value| {
        target.uid.as_deref() == change::uid(live)
            && change::owner(live).is_none_or(|owner| owner == context.deployment.as_str())
    };
    let intent = match live.as_ref().filter(ours) {
        None => ResourceIntent::None,
        Some(live) => match delete.unwrap_or_else(|| change::delete_policy(live)) {
            DeletePolicy::Delete => ResourceIntent::Delete,
            DeletePolicy::Abandon => ResourceIntent::Abandon,
        },
    };
    ResourceDiff {
        name: target.name.clone(),
        type_name: target.type_name.clone(),
        intent,
        basis: ownership::basis(&target.object, live.as_ref(), context.deployment),
        changes: Vec::new(),
        unknown: Vec::new(),
        error,
    }
}
