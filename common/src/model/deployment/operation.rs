//! An operation: one write and its progress, as callers see it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::api::error::ErrorBody;
use crate::model::name::{DeploymentName, ManifestName, OperationId};

/// A durable unit of work on a deployment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// Chosen by the manager. Sorts by age.
    pub id: OperationId,
    /// What it does.
    #[serde(rename = "type")]
    pub operation_type: OperationType,
    /// The deployment that it works on.
    pub deployment: DeploymentName,
    /// The manifest that it made or applied. Absent until the manifest is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<ManifestName>,
    /// The caller. `anonymous` without authentication.
    pub user: String,
    /// The address of the caller. Absent if the manager started the operation itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// `DONE` also if the operation failed: then `error` is set.
    pub status: OperationStatus,
    /// How far it is.
    pub progress: Progress,
    /// When the manager accepted it.
    pub start_time: Timestamp,
    /// Set when the status is `DONE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_time: Option<Timestamp>,
    /// Set when the operation has ended and failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
    /// Sentences for the user. They do not make it fail.
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

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OperationType {
    /// Created a deployment and applied its first manifest.
    Create,
    /// Applied a new manifest. A commit of a preview is an update.
    Update,
    /// Deleted the objects, then the deployment.
    Delete,
    /// Stored what a create or an update would do.
    Preview,
    /// Applied the configuration of an earlier manifest.
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

/// How far an operation is in its life. The result is in `error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OperationStatus {
    /// It waits for its turn.
    Pending,
    /// Its steps run. A manager that restarts continues them.
    Running,
    /// It has ended, with or without success.
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
    /// All resources of the operation, with those to delete. 0 until they are known.
    pub total: u32,
    /// The service that is unreachable and delays the operation. Absent while it continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<Box<str>>,
}
