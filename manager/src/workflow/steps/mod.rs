//! The steps, one file each. Every step can be repeated after a crash at any point, with the same result.

mod cluster;
mod expand;
mod notes;
mod plans;
mod records;

use super::step::{Done, Run, Step, StepError};

pub async fn run(step: Step, run: &Run<'_>) -> Result<Done, StepError> {
    match step {
        Step::Expand => expand::run(run).await,
        Step::Check => cluster::check::run(run).await,
        Step::Store => records::store::run(run).await,
        Step::Apply => cluster::apply::run(run).await,
        Step::Publish => records::publish::run(run).await,
        Step::Diff => cluster::diff::run(run).await,
        Step::Keep => records::keep::run(run).await,
        Step::Verify => cluster::verify::run(run).await,
        Step::Adopt => records::adopt::run(run).await,
        Step::Empty => records::empty::run(run).await,
        Step::Remove => cluster::remove::run(run).await,
        Step::Forget => records::forget::run(run).await,
        Step::Test => cluster::test::run(run).await,
    }
}
