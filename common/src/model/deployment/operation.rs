//! An operation: one write and its progress, as callers see it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::api::error::ErrorBody;
use crate::model::name::{DeploymentName, ManifestName, OperationId};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    pub id: OperationId,
    #[serde(rename = "type")]
    pub operation_type: OperationType,
    pub deployment: DeploymentName,
    /// The manifest that it made or applied. Absent until the manifest is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<ManifestName>,
    /// The caller. `anonymous` without authentication.
    pub user: String,
    /// The address of the caller. Absent if the manager started the operation itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    pub status: OperationStatus,
    pub progress: Progress,
    pub start_time: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_time: Option<Timestamp>,
    /// Set when the operation has ended and failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Set when the write failed and was undone (`rollbackOnFailure`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollback: Option<Rollback>,
}

/// How a failed write was undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rollback {
    /// The manifest whose configuration was restored. Absent if there was none, and the deployment is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<ManifestName>,
    /// The new manifest that restores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<ManifestName>,
    /// Why that failed too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OperationType {
    Create,
    Update,
    Delete,
    /// Stored what a create or an update would do.
    Preview,
    Rollback,
    /// Applied the latest manifest again, because the cluster had drifted from it.
    Correct,
    /// Ran the test hooks of the deployment's charts. Nothing else was changed.
    Test,
}

impl OperationType {
    /// For people, and for metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Preview => "preview",
            Self::Rollback => "rollback",
            Self::Correct => "correct",
            Self::Test => "test",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OperationStatus {
    Pending,
    Running,
    Done,
}

/// The progress of an operation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// The step that is running, in words for users: `expanding`, `applying`.
    pub step: String,
    /// How many resources are done, of `total`.
    pub done: u32,
    pub total: u32,
    /// The service that is unreachable and delays the operation. Absent while it continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<Box<str>>,
}
