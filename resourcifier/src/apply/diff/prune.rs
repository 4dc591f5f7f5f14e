//! What becomes of objects on record that are not desired any more.

use common::api::deployer::{ResourceDiff, ResourceIntent};
use common::api::error::{ErrorBody, ErrorCode};
use common::model::{DeletePolicy, ObjectRef};
use serde_json::Value;

use crate::apply::context::{BATCH, Context, Stopped};
use crate::apply::definitions::{self, shared};
use crate::apply::fetch::read;
use crate::apply::object::acquired::Taken;
use crate::apply::object::claim::{self, Standing};
use crate::apply::object::{change, ownership};
use crate::apply::remove::item::RemovalTarget;
use crate::apply::remove::{Removal, namespaces};
use crate::kubectl::KubectlError;

/// In the order in which they would go.
pub async fn diffs(
    context: Context<'_>,
    superfluous: Vec<RemovalTarget>,
    removal: Removal,
) -> Result<Vec<ResourceDiff>, Stopped> {
    let mut found = Vec::with_capacity(superfluous.len());
    for batch in superfluous.chunks(BATCH) {
        context.gate.check()?;
        let objects: Vec<&ObjectRef> = batch.iter().map(|target| &target.object).collect();
        for (target, live) in batch.iter().zip(read(context, &objects).await?) {
            let mut diff = diff(context, target, live.as_ref(), removal);
            diff.error = match live {
                Ok(live) => obstacle(context, &diff, live.as_ref(), removal).await,
                Err(error) => Some(error.into()),
            };
            found.push(diff);
        }
    }
    Ok(found)
}

fn diff(
    context: Context<'_>,
    target: &RemovalTarget,
    live: Result<&Option<Value>, &KubectlError>,
    removal: Removal,
) -> ResourceDiff {
    let live = live.ok().and_then(Option::as_ref);
    let ours = |live: &&Value| {
        let recorded = target.uid.as_deref();
        claim::standing(Some(live), context.deployment, recorded) == Standing::Ours
    };
    let intent = match live.filter(ours) {
        None => ResourceIntent::None,
        Some(live) if removal.restore && Taken::read(live).is_some() => ResourceIntent::Abandon,
        Some(live) if !shared::may_go(live, removal.policy, context.deployment) => {
            ResourceIntent::Abandon
        }
        Some(live) => match removal
            .policy
            .unwrap_or_else(|| change::delete_policy(live))
        {
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
    removal: Removal,
) -> Option<ErrorBody> {
    let object = &diff.basis.object;
    let live = live.filter(|_| diff.intent == ResourceIntent::Delete)?;
    let reason = if definitions::is_definition(object) {
        definitions::obstacle(context, live).await?
    } else if namespaces::is_namespace(object) && !removal.allow_others {
        namespaces::obstacle(context, &object.name).await?
    } else {
        return None;
    };
    let message = format!("resource {} ({object}): {reason}", diff.name);
    Some(ErrorBody::new(ErrorCode::ResourcesFailed, message))
}
