//! What a step gets, and what it returns.

mod outcome;
mod run;

use std::sync::Arc;

use common::model::ManifestName;

use super::expansion::Expansions;
use super::retry::Retry;
use crate::audit::Audit;
use crate::auth::AccessControl;
use crate::deployer::Deployers;
use crate::domain::operation::intent::Intent;
use crate::store::Store;

pub use outcome::{Done, Failure, StepError};
pub use run::Run;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Expand,
    Check,
    Store,
    Apply,
    Publish,
    Diff,
    Keep,
    Verify,
    Adopt,
    Empty,
    Remove,
    Forget,
    Test,
}

impl Step {
    /// The value of `progress.step` while it runs.
    pub fn verb(self) -> &'static str {
        match self {
            Step::Expand => "expanding",
            Step::Check => "checking",
            Step::Store | Step::Empty | Step::Keep | Step::Adopt => "storing",
            Step::Diff | Step::Verify => "comparing",
            Step::Apply => "applying",
            Step::Publish => "publishing",
            Step::Remove => "deleting",
            Step::Forget => "removing",
            Step::Test => "testing",
        }
    }

    /// Whether it only records the results of the previous steps, which were authorized.
    pub fn concludes(self) -> bool {
        matches!(self, Step::Publish | Step::Keep | Step::Forget)
    }

    /// Whether it sends a job to the deployer.
    pub fn has_job(self) -> bool {
        matches!(self, Step::Apply | Step::Remove | Step::Test)
    }

    /// Whether a stop may drop it at any point. A step with a job of the deployer ends the job itself and records its
    /// result. A concluding step runs to its end: it may write more than one commit, and is short.
    pub fn may_be_dropped(self) -> bool {
        !self.has_job() && !self.concludes()
    }
}

/// What all steps use.
pub struct Dependencies {
    pub store: Store,
    pub expansions: Arc<Expansions>,
    pub deployers: Arc<dyn Deployers>,
    pub access: AccessControl,
    pub audit: Audit,
    pub retry: Retry,
    /// The number of manifests to keep of a deployment [default: all].
    pub keep_manifests: Option<usize>,
    /// Whether the manager checks for drift on a schedule.
    pub drift_checks: bool,
}

/// What an operation works towards: the request, or the rollback.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    pub intent: Intent,
    pub manifest: Option<ManifestName>,
}
