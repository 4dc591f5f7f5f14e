//! Makes the cluster hold a plan, and tells how it goes.
//!
//! ```text
//! expected ── nothing is touched if an object is not as the caller has seen it
//! check ── nothing is touched before all objects are known to be ours to touch, and the caller to have the permissions
//!   └► converge: many at once, each as soon as what it depends on is there, until all is ready, failed or too late
//!              └► remove what is recorded and not desired any more, if nothing failed
//! ```
//! What is done can be done again: a caller that does not know how far it came repeats it.

mod acquire;
mod acquired;
mod causes;
mod change;
mod claim;
mod compare;
mod conflicts;
mod converge;
mod definitions;
mod diff;
mod discovery;
mod drift;
mod events;
mod evidence;
mod expected;
mod fetch;
mod item;
mod namespaces;
mod notation;
mod outputs;
mod ownership;
mod pace;
mod permissions;
mod pods;
pub mod readiness;
mod remove;
mod replace;
mod secrets;
mod shown;
mod unchanged;
mod work;

use std::collections::HashSet;

use common::api::deployer::{Basis, Report, ResourceState};
use common::api::error::ErrorBody;
use common::model::{AppliedObject, DeploymentName, ObjectRef, Resource};

use self::item::Target;
use self::remove::withheld;
use crate::kubectl::{Gate, Halt, Kubectl};
use crate::plan::{Catalog, Plan};

pub use change::uid;
pub use claim::is_ours;
pub use diff::diff;
pub use discovery::Discovery;
pub use drift::Drift;
pub use events::Events;
pub use evidence::of as evidence;
pub use fetch::{AT_ONCE, Source, all, each, many};
pub use pace::Deadline;
pub use remove::Removal;
pub use secrets::Secrets;
pub use unchanged::is_unchanged;

/// Objects of one call: enough that starting a process does not count, few enough that memory and news keep flowing.
pub const BATCH: usize = 250;

/// Why a write ended without a report.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    /// The job may not go on, and who reads the end learns why.
    #[error(transparent)]
    Halted(#[from] Halt),
    /// Before anything was touched.
    #[error(transparent)]
    Refused(#[from] ErrorBody),
}

/// What every write has.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub kubectl: &'a dyn Kubectl,
    pub catalog: &'a Catalog,
    pub deployment: &'a DeploymentName,
    pub events: &'a Events,
    pub deadline: Deadline,
    /// What each call passes: once it is closed, nothing more is begun.
    pub gate: &'a Gate,
}

/// What is known besides the plan.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// What exists of the deployment.
    pub recorded: &'a [AppliedObject],
    /// How the objects must still be.
    pub expected: &'a [Basis],
    /// What becomes of objects that are not in the plan.
    pub removal: Removal,
}

/// Applies the plan, then removes what is recorded and not in it.
pub async fn apply(context: Context<'_>, plan: Plan, known: Known<'_>) -> Result<Report, Stopped> {
    let recorded = known.recorded;
    expected::check(context, &plan, known.expected).await?;
    let superfluous = superfluous(&plan, recorded)?;
    let (targets, planned) = (outputs::targets(&plan), plan.outputs.clone());
    let removal = match superfluous.is_empty() {
        true => Vec::new(),
        false => {
            let found = remove::find(context, superfluous.clone()).await?;
            found.needs(known.removal)
        }
    };
    let converged = converge::converge(context, plan, recorded, removal).await?;
    let mut report = Report {
        resources: converged.reports,
        objects: converged.objects,
        ..Report::default()
    };
    let is_whole = report
        .resources
        .iter()
        .all(|resource| resource.state == ResourceState::Ready);
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
    superfluous: Vec<Target>,
    removal: Removal,
) -> remove::Removed {
    match remove::find(context, superfluous.clone()).await {
        Ok(found) => found.remove(removal).await,
        Err(_) => remove::not_begun(superfluous),
    }
}

/// What is recorded and not in the plan, in the order in which it is to go.
fn superfluous(plan: &Plan, recorded: &[AppliedObject]) -> Result<Vec<Target>, ErrorBody> {
    let desired: HashSet<_> = plan
        .nodes
        .iter()
        .map(|node| node.object.identity())
        .collect();
    let gone = recorded.iter().rev();
    gone.filter(|old| !desired.contains(&old.object.identity()))
        .map(|old| Target::recorded(old.clone()))
        .collect()
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
    let mut targets: Vec<Target> = unrecorded
        .map(|(resource, object)| Target::unconfirmed(resource, object))
        .collect();
    targets.reverse();
    for old in recorded.iter().rev() {
        targets.push(Target::recorded(old.clone())?);
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
