//! Makes the cluster hold a plan, and reports the progress.
//!
//! ```text
//! expected ── nothing is touched if an object is not as the caller has seen it
//! check ── nothing is touched before all objects are known to be ours to touch, and the caller to have the permissions
//! preflight ── nothing is touched if the API server refuses one of them in a dry run
//!   └► converge: many at once, each as soon as what it depends on is there, until all is ready, failed or too late
//!              ├► end what a former tool owns of the objects, if nothing failed
//!              └► remove what is recorded and not desired any more, if nothing failed
//! ```
//! What is done can be done again: a caller that does not know how far it came repeats it.

mod cause;
mod checks;
mod context;
mod converge;
mod definitions;
mod diff;
mod fetch;
pub mod hooks;
mod object;
pub mod readiness;
mod remove;
mod write;

use std::collections::HashSet;

use common::api::deployer::{Hooks, Occasion, Report, ResourceState};
use common::model::{AppliedObject, ObjectRef, Resource};

use self::checks::{expected, permissions};
use self::fetch::outputs;
use self::remove::item::RemovalTarget;
use self::remove::{superfluous, withheld};
use self::write::predecessor;
use crate::plan::Plan;
use crate::plan::hooks::Moment;

pub use cause::evidence::of as evidence;
pub use context::events::Events;
pub use context::pace::Deadline;
pub use context::secrets::Secrets;
pub use context::{BATCH, Context, Known, Stopped};
pub use diff::diff;
pub use diff::drift::Drift;
pub use fetch::discovery::Discovery;
pub use fetch::{AT_ONCE, Source, all, each, many};
pub use object::change::uid;
pub use object::claim::is_ours;
pub use object::unchanged::is_unchanged;
pub use remove::Removal;

/// Applies the plan, then removes what is recorded and not in it. With hooks for tests, only those run.
pub async fn apply(
    context: Context<'_>,
    plan: Plan,
    known: Known<'_>,
    hooks: Option<&Hooks>,
) -> Result<Report, Stopped> {
    let recorded = known.recorded;
    if hooks.is_some_and(|hooks| hooks.occasion == Occasion::Test) {
        let moment = Moment::Apply(hooks);
        return hooks::run(context, plan, moment, recorded).await;
    }
    expected::check(context, &plan, known.expected).await?;
    let superfluous = superfluous(&plan, recorded)?;
    let (targets, planned) = (outputs::targets(&plan), plan.outputs.clone());
    let whole = hooks::identities(&plan);
    let plan = hooks::selected(context, plan, Moment::Apply(hooks))?;
    let kept = hooks::kept(recorded, &whole, &plan);
    let removal = match superfluous.is_empty() {
        true => Vec::new(),
        false => {
            let found = remove::find(context, superfluous.clone()).await?;
            found.needs(known.removal)
        }
    };
    let converged = converge::converge(context, plan, known, removal).await?;
    let mut report = Report {
        resources: converged.reports,
        objects: kept.into_iter().chain(converged.objects).collect(),
        ..Report::default()
    };
    let is_ready = |report: &Report| {
        let mut resources = report.resources.iter();
        resources.all(|resource| resource.state == ResourceState::Ready)
    };
    if let Some(predecessor) = known.predecessor.filter(|_| is_ready(&report)) {
        predecessor::end(context, predecessor, &mut report).await;
    }
    let is_whole = is_ready(&report);
    let removed = match is_whole {
        true => removed(context, superfluous, known.removal).await,
        false => withheld(superfluous),
    };
    let mut is_done = is_whole && removed.is_done();
    if is_whole {
        match outputs::resolve(context, &targets, &planned).await {
            Ok(found) => (report.outputs, report.output_errors) = found,
            Err(_) => is_done = false,
        }
    }
    report.resources.extend(removed.reports);
    report.objects.extend(removed.left);
    report.stopped = !is_done && context.gate.halted().is_some();
    Ok(report)
}

/// What was applied is reported, whatever happens to the rest.
async fn removed(
    context: Context<'_>,
    superfluous: Vec<RemovalTarget>,
    removal: Removal,
) -> remove::Removed {
    match remove::find(context, superfluous.clone()).await {
        Ok(found) => found.remove(removal).await,
        Err(_) => remove::not_begun(superfluous),
    }
}

/// Deletes what is recorded, and what is not but says that it is the deployment's.
pub async fn delete(
    context: Context<'_>,
    recorded: Vec<AppliedObject>,
    unconfirmed: Vec<(Resource, ObjectRef)>,
    policy: Removal,
) -> Result<Report, Stopped> {
    let known: HashSet<_> = recorded.iter().map(|old| old.object.identity()).collect();
    let unrecorded = unconfirmed
        .into_iter()
        .filter(|(_, object)| !known.contains(&object.identity()));
    let mut targets: Vec<RemovalTarget> = unrecorded
        .map(|(resource, object)| RemovalTarget::unconfirmed(resource, object))
        .collect();
    targets.reverse();
    for old in recorded.iter().rev() {
        targets.push(RemovalTarget::recorded(old.clone())?);
    }
    let found = remove::find(context, targets).await?;
    permissions::check(context, &found.needs(policy)).await?;
    let removed = found.remove(policy).await;
    Ok(Report {
        stopped: !removed.is_done() && context.gate.halted().is_some(),
        resources: removed.reports,
        objects: removed.left,
        ..Report::default()
    })
}
