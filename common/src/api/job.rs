//! The jobs of resourcifier: how the manager keeps one alive, stops it, and learns that it has ended.
//!
//! ```text
//! manager                                     resourcifier
//!   ── POST /configurations {fence} ──────────►  a job that only reads
//!   ◄── {"event":"beat","beat":0} ────────────
//!   ── POST /jobs/renew {fence, beat: 0} ─────►  it may write for `leaseMs`, counted from beat 0
//!   ◄── {"event":"beat","beat":1} …───────────
//!   ── POST /jobs/stop {fence} ───────────────►  nothing new is sent, what is under way is answered
//!   ◄── the report, with `stopped` ───────────
//!   ◄── 200 {"ended": [0]} ───────────────────
//! ```
//! The lease counts from when resourcifier sent the beat, and the manager knows a later moment: when it read the beat. So
//! the manager knows when the last write is over, whatever became of a renewal on its way, and without comparing clocks.

use serde::{Deserialize, Serialize};

use crate::model::{DeploymentName, OperationId};

/// Under which take of an operation a write is made. A later take of the same deployment always has a higher number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Fence {
    /// Whose numbers these are. Numbers of different stores say nothing of each other.
    pub store: String,
    pub number: u64,
    /// Which try of this take it is, from 0: a job that broke off is begun again.
    pub attempt: u32,
    /// For how long a job may write after each sign of life of the manager, in milliseconds.
    pub lease_ms: u64,
    /// The operation that takes. The API server's audit log names it with each write of the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<OperationId>,
}

/// `POST /jobs/renew`: the manager is alive, and has read this beat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Renewal {
    pub deployment: DeploymentName,
    pub fence: Fence,
    pub beat: u64,
}

/// The answer to a [`Renewal`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Renewed {
    /// Whether the job runs here.
    pub known: bool,
}

/// `POST /jobs/stop`: jobs of the deployment up to this take and attempt end, and none of them begins any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StopJobs {
    pub deployment: DeploymentName,
    pub fence: Fence,
}

/// The answer to [`StopJobs`], once they have ended: nothing of them reaches the cluster any more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct JobsStopped {
    /// The attempts of this take that ran in this process of resourcifier. Of any other it knows nothing.
    pub ended: Vec<u32>,
    /// Those of earlier takes, likewise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EndedTake>,
}

/// The attempts of one take that have ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct EndedTake {
    pub number: u64,
    pub attempts: Vec<u32>,
}
