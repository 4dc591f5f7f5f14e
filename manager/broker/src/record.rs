//! What is stored of instances and bindings. The phase of each follows from its latest operation.

use common::model::{DeploymentName, Namespace, OperationId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The user of the platform that called, and the platform's own user behind it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The user name that the broker's credentials belong to.
    pub user: String,
    /// `X-Broker-API-Originating-Identity`: the platform, and its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub originating: Option<(String, Value)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    Create,
    Update,
    Delete,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "state")]
pub enum Progress {
    InProgress,
    Succeeded,
    #[serde(rename_all = "camelCase")]
    Failed {
        description: String,
        /// Whether the request is at fault, such as its parameters.
        is_callers: bool,
        /// Whether everything is as it was before.
        is_undone: bool,
    },
}

/// The latest operation of an instance or a binding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// For a create or an update, the operation on the deployment has the same id.
    pub id: OperationId,
    pub kind: Kind,
    /// A digest of the request, to know it again.
    pub request: String,
    pub progress: Progress,
    pub started: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    pub caller: Caller,
}

/// Where an instance or a binding stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstancePhase {
    Creating,
    Ready,
    /// The create failed.
    Failed,
    Updating,
    Deleting,
    DeleteFailed,
    /// Deleted. The record remains for platforms that still ask.
    Gone,
}

/// Bindings have the same phases, and are never updated.
pub type BindingPhase = InstancePhase;

impl Operation {
    pub fn phase(&self) -> InstancePhase {
        match (self.kind, &self.progress) {
            (Kind::Create, Progress::InProgress) => InstancePhase::Creating,
            (Kind::Create, Progress::Failed { .. }) => InstancePhase::Failed,
            (Kind::Update, Progress::InProgress) => InstancePhase::Updating,
            (Kind::Delete, Progress::InProgress) => InstancePhase::Deleting,
            (Kind::Delete, Progress::Failed { .. }) => InstancePhase::DeleteFailed,
            (Kind::Delete, Progress::Succeeded) => InstancePhase::Gone,
            (Kind::Create | Kind::Update, _) => InstancePhase::Ready,
        }
    }

    pub fn is_running(&self) -> bool {
        self.progress == Progress::InProgress
    }

    /// Whether the instance can be used after a failed update or delete. None after everything else.
    pub fn instance_usable(&self) -> Option<bool> {
        match (self.kind, &self.progress) {
            (Kind::Update | Kind::Delete, Progress::Failed { is_undone, .. }) => Some(*is_undone),
            _ => None,
        }
    }

    /// The same operation with its end.
    pub fn ended(mut self, progress: Progress) -> Self {
        self.progress = progress;
        self.ended = Some(Timestamp::now());
        self
    }
}

/// What an instance is to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    pub service_id: String,
    pub plan_id: String,
    pub parameters: Map<String, Value>,
    pub context: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maintenance_version: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Instance {
    pub id: String,
    /// A digest of the request that created it.
    pub fingerprint: String,
    pub deployment: DeploymentName,
    pub namespace: Namespace,
    pub current: Target,
    /// What a running update leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Target>,
    /// The plan before the latest update. Platforms name it while they poll.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_plan: Option<String>,
    pub operation: Operation,
}

/// What a binding is of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BindingTarget {
    pub service_id: String,
    pub plan_id: String,
    pub parameters: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Binding {
    pub id: String,
    pub instance: String,
    pub fingerprint: String,
    pub deployment: DeploymentName,
    pub namespace: Namespace,
    pub target: BindingTarget,
    /// The permissions that its service has from the platform.
    pub requires: Vec<String>,
    /// The answer of a bind: the credentials and what goes with them. The store seals it.
    pub answer: Map<String, Value>,
    pub operation: Operation,
}

impl Instance {
    pub fn phase(&self) -> InstancePhase {
        self.operation.phase()
    }

    /// The instance after its operation has ended.
    pub fn ended(mut self, progress: Progress) -> Self {
        let next = self.next.take();
        if let (Progress::Succeeded, Some(next)) = (&progress, next) {
            self.current = next;
        }
        self.operation = self.operation.ended(progress);
        if self.phase() == InstancePhase::Gone {
            (self.current.parameters, self.current.context) = Default::default();
        }
        self
    }

    /// What templates see of it in `env`.
    pub fn environment(&self) -> Map<String, Value> {
        let target = self.next.as_ref().unwrap_or(&self.current);
        environment([
            ("instance_id", json!(self.id)),
            ("service_id", json!(target.service_id)),
            ("plan_id", json!(target.plan_id)),
            ("context", json!(target.context)),
        ])
    }
}

impl Binding {
    pub fn phase(&self) -> BindingPhase {
        self.operation.phase()
    }

    /// The binding after its operation has ended.
    pub fn ended(mut self, progress: Progress) -> Self {
        self.operation = self.operation.ended(progress);
        if self.phase() == InstancePhase::Gone {
            (self.answer, self.target.parameters) = Default::default();
        }
        self
    }

    /// What templates see of it in `env`.
    pub fn environment(&self) -> Map<String, Value> {
        environment([
            ("instance_id", json!(self.instance)),
            ("binding_id", json!(self.id)),
            ("service_id", json!(self.target.service_id)),
            ("plan_id", json!(self.target.plan_id)),
        ])
    }
}

fn environment<const N: usize>(entries: [(&str, Value); N]) -> Map<String, Value> {
    let entries = entries.into_iter();
    entries
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}
