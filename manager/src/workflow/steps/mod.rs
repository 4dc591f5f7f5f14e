//! The steps, one file each. Every step can be repeated after a crash at any point, with the same result.

mod adopt;
mod apply;
mod check;
mod diff;
mod empty;
mod expand;
mod forget;
mod keep;
mod leftovers;
mod notes;
mod publish;
mod remove;
mod store;
mod verdict;
mod verify;

use super::step::{Done, Run, Step, StepError};

pub async fn run(step: Step, run: &Run<'_>) -> Result<Done, StepError> {
    match step {
        Step::Expand => expand::run(run).await,
        Step::Check => check::run(run).await,
        Step::Store => store::run(run).await,
        Step::Apply => apply::run(run).await,
        Step::Publish => publish::run(run).await,
        Step::Diff => diff::run(run).await,
        Step::Keep => keep::run(run).await,
        Step::Verify => verify::run(run).await,
        Step::Adopt => adopt::run(run).await,
        Step::Empty => empty::run(run).await,
        Step::Remove => remove::run(run).await,
        Step::Forget => forget::run(run).await,
    }
}
