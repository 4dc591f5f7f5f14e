//! Makes the cluster hold a plan, and tells how it goes.
//!
//! ```text
//! check ── nothing is touched before all objects are known to be ours to touch
//!   └► converge: apply what can be ─► look what became ready ─► rest ─┐   one kubectl a batch
//!         ▲                                                          │
//!         └──────────────────────────────────────────────────────────┘   until all is ready, failed or too late
//!              └► remove what is recorded and not desired any more, if nothing failed
//! ```
//! What is done can be done again: a caller that does not know how far it came repeats it.

mod batch;
mod causes;
mod change;
mod converge;
mod discovery;
mod events;
mod fetch;
mod item;
mod outputs;
mod pace;
pub mod readiness;
mod remove;
mod work;

use common::api::deployer::{Report, ResourceState};
use common::api::error::ErrorBody;
use common::model::{AppliedObject, DeletePolicy, DeploymentName, ObjectRef, Resource};

use self::item::Target;
use self::remove::withheld;
use crate::kubectl::Kubectl;
use crate::plan::{Catalog, Plan};

pub use change::uid;
pub use discovery::Discovery;
pub use events::{CallerGone, Events};
pub use fetch::{all, each};
pub use pace::Deadline;

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

/// Applies the plan, then removes what is recorded and not in it.
pub async fn apply(
    context: Context<'_>,
    plan: Plan,
    recorded: &[AppliedObject],
) -> Result<Report, Stopped> {
    let superfluous: Vec<Target> = recorded
        .iter()
        .rev()
        .filter(|old| {
            !plan
                .nodes
                .iter()
                .any(|node| node.object.is_same_object(&old.object))
        })
        .map(|old| Target::recorded(old.clone()))
        .collect::<Result<_, _>>()?;
    let (targets, planned) = (outputs::targets(&plan), plan.outputs.clone());
    let converged = converge::converge(context, plan, recorded).await?;
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
        remove::remove(context, superfluous, None).await?
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

/// Deletes what is recorded, and what is not but says that it is the deployment's.
pub async fn delete(
    context: Context<'_>,
    recorded: Vec<AppliedObject>,
    unconfirmed: Vec<(Resource, ObjectRef)>,
    policy: Option<DeletePolicy>,
) -> Result<Report, Stopped> {
    let unrecorded = unconfirmed
        .into_iter()
        .filter(|(_, object)| !recorded.iter().any(|old| old.object.is_same_object(object)));
    let mut targets: Vec<Target> = unrecorded
        .map(|(resource, object)| Target::unconfirmed(resource, object))
        .collect();
    targets.reverse();
    for old in recorded.iter().rev() {
        targets.push(Target::recorded(old.clone())?);
    }
    let removed = remove::remove(context, targets, policy).await?;
    Ok(Report {
        resources: removed.reports,
        objects: removed.left,
        ..Report::default()
    })
}
