//! What becomes of objects on record that are not desired any more.

use common::api::deployer::{ResourceDiff, ResourceIntent};
use common::api::error::{ErrorBody, ErrorCode};
use common::model::{AppliedObject, DeletePolicy, ObjectRef};
use serde_json::Value;

use super::super::item::Target;
use super::super::{BATCH, Context, Stopped, change, definitions, ownership};
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
            let mut diff = diff(context, target, live.as_ref(), delete);
            diff.error = match live {
                Ok(live) => obstacle(context, &diff, live.as_ref()).await,
                Err(error) => Some(error.into()),
            };
            found.push(diff);
        }
    }
    Ok(found)
}

fn diff(
    context: Context<'_>,
    target: &Target,
    live: Result<&Option<Value>, &KubectlError>,
    delete: Option<DeletePolicy>,
) -> ResourceDiff {
    let live = live.ok().and_then(Option::as_ref);
    let ours = |live: &Value| {
        target.uid.as_deref() == change::uid(live)
            && change::owner(live).is_none_or(|owner| owner == context.deployment.as_str())
    };
    let intent = match live.filter(|live| ours(live)) {
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
        basis: ownership::basis(&target.object, live, context.deployment),
        changes: Vec::new(),
        unknown: Vec::new(),
        missing_permissions: Vec::new(),
        error: None,
    }
}

/// Why it would not be deleted after all.
async fn obstacle(
    context: Context<'_>,
    diff: &ResourceDiff,
    live: Option<&Value>,
) -> Option<ErrorBody> {
    let is_asked = diff.intent == ResourceIntent::Delete;
    let is_definition = definitions::is_definition(&diff.basis.object);
    let live = live.filter(|_| is_asked && is_definition)?;
    let reason = definitions::obstacle(context, live).await?;
    let message = format!("resource {} ({}): {reason}", diff.name, diff.basis.object);
    Some(ErrorBody::new(ErrorCode::ResourcesFailed, message))
}
