//! The jobs of resourcifier: how the manager keeps a job alive, stops it, and learns that it has ended.
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
//! The lease starts when resourcifier sends a beat. The manager reads the beat later, and counts from there. So the
//! manager's end of the lease is never too early, even if a renewal is lost, and no clocks are compared.

use serde::{Deserialize, Serialize};

use crate::model::{DeploymentName, OperationId};

/// Identifies the take that a write belongs to: an operation takes its deployment when it starts, and each take of a
/// deployment has a higher number than the one before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Fence {
    /// The store that the numbers come from. Numbers of different stores cannot be compared.
    pub store: String,
    /// Grows with each take of the deployment. resourcifier refuses a write with a lower number than the last one.
    pub number: u64,
    /// The attempt within this take, from 0: a job that broke off is started again.
    pub attempt: u32,
    /// How long a job may write after each sign of life from the manager, in milliseconds.
    pub lease_ms: u64,
    /// The operation. The API server's audit log names it with each write of the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<OperationId>,
}

/// `POST /jobs/renew`: the manager is alive and has read this beat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Renewal {
    /// The deployment of the job.
    pub deployment: DeploymentName,
    /// The fence of the job's request.
    pub fence: Fence,
    /// The number of the beat. The job may write for `leaseMs` from the moment when resourcifier sent it.
    pub beat: u64,
}

/// The answer to a [`Renewal`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Renewed {
    /// Whether the job runs in this process.
    pub known: bool,
}

/// `POST /jobs/stop`: ends jobs of the deployment up to this take and attempt. None of them can start any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StopJobs {
    /// The deployment of the jobs.
    pub deployment: DeploymentName,
    /// The last take and attempt that must end.
    pub fence: Fence,
}

/// The answer to [`StopJobs`], sent after the jobs have ended: they write nothing to the cluster any more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct JobsStopped {
    /// The attempts of this take that ran in this process of resourcifier. It does not know of other processes.
    pub ended: Vec<u32>,
    /// The attempts of earlier takes that ran in this process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EndedTake>,
}

/// The attempts of one take that have ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct EndedTake {
    /// The number of the take, as in [`Fence`].
    pub number: u64,
    /// In the order in which they ended.
    pub attempts: Vec<u32>,
}
