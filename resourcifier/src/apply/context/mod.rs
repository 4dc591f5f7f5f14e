//! What every write is given, and how it ends without a report.

pub mod events;
pub mod pace;
pub mod race;
pub mod secrets;

use common::api::deployer::Basis;
use common::api::error::ErrorBody;
use common::model::{AppliedObject, DeploymentName, Namespace, Predecessor};

use self::events::Events;
use self::pace::Deadline;
use super::remove::Removal;
use crate::kubectl::{ClusterApi, Gate, Halt};
use crate::plan::Catalog;

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
    pub kubectl: &'a dyn ClusterApi,
    pub catalog: &'a Catalog,
    pub deployment: &'a DeploymentName,
    /// The operation, or the request. Hooks run once in each.
    pub operation: &'a str,
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
    /// The namespace to create if it is missing.
    pub create_namespace: Option<&'a Namespace>,
    /// Whether all objects are tried before the first write.
    pub preflight: bool,
    /// Whose field managers lose the objects' fields.
    pub predecessor: Option<Predecessor>,
}
