//! Makes the cluster hold a plan, and tells how it goes.
//!
//! ```text
//! expected ── nothing is touched if an object is not as the caller has seen it
//! check ── nothing is touched before all objects are known to be ours to touch, and the caller to have the permissions
//!   └► converge: many at once, each as soon as what it depends on is there, until all is ready, failed or too late
//!              └► remove what is recorded and not desired any more, if nothing failed
//! ```
//! What is done can be done again: a caller that does not know how far it came repeats it.

mod causes;
mod change;
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
use common::model::{AppliedObject, DeletePolicy, DeploymentName, ObjectRef, Resource};

use self::item::Target;
use self::remove::withheld;
use crate::kubectl::Kubectl;
use crate::plan::{Catalog, Plan};

pub use change::uid;
pub use diff::diff;
pub use discovery::Discovery;
pub use drift::Drift;
pub use events::{CallerGone, Events};
pub use evidence::of as evidence;
pub use fetch::{AT_ONCE, all, each};
pub use pace::Deadline;
pub use secrets::Secrets;

/// Objects of one call: enough that starting a process does not count, few enough that memory and news keep flowing.
pub const BATCH: usize = 250;

/// Why a write ended without a report.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    #[error(transparent)]
    CallerGone(#[from] CallerGone),
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
}

/// What is known besides the plan.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// What exists of the deployment.
    pub recorded: &'a [AppliedObject],
    /// How the objects must still be.
    pub expected: &'a [Basis],
    /// Goes over the delete policy of each object to prune.
    pub delete: Option<DeletePolicy>,
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
            found.needs(known.delete)
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
    let removed = if is_whole {
        let found = remove::find(context, superfluous).await?;
        found.remove(known.delete).await?
    } else {
        withheld(superfluous)
    };
    if is_whole {
        (report.outputs, report.output_errors) =
            outputs::resolve(context, &targets, &planned).await?;
    }
    report.resources.extend(removed.reports);
    report.objects.extend(removed.left);
    Ok(report)
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
    policy: Option<DeletePolicy>,
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
    let removed = found.remove(policy).await?;
    Ok(Report {
        resources: removed.reports,
        objects: removed.left,
        ..Report::default()
    })
}
