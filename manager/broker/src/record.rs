//! What is stored of instances and bindings. The phase of each follows from its latest operation.

use common::model::{DeploymentName, Namespace, OperationId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The output of an instance's type that platforms show to their users.
pub const DASHBOARD_URL: &str = "dashboard_url";

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
        /// What the plan says about it.
        #[serde(default, skip_serializing_if = "Flags::is_empty")]
        flags: Flags,
    },
}

/// What a plan says of an instance after a failure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Flags {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usable: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeatable: Option<bool>,
}

impl Flags {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
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
            (
                Kind::Update | Kind::Delete,
                Progress::Failed {
                    is_undone, flags, ..
                },
            ) => Some(flags.usable.unwrap_or(*is_undone)),
            _ => None,
        }
    }

    /// Whether a failed update may be repeated. None after everything else.
    pub fn update_repeatable(&self) -> Option<bool> {
        match (self.kind, &self.progress) {
            (Kind::Update, Progress::Failed { flags, .. }) => {
                Some(flags.repeatable.unwrap_or(true))
            }
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
    /// What its type has in the output `dashboard_url`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dashboard_url: Option<String>,
    #[serde(default, skip_serializing_if = "Origin::is_empty")]
    pub origin: Origin,
    pub operation: Operation,
}

/// Where a platform has an instance.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organization: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<String>,
}

impl Origin {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
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
    /// The deployment of the instance. Absent in records of earlier managers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_deployment: Option<DeploymentName>,
    pub namespace: Namespace,
    pub target: BindingTarget,
    /// The permissions that its service has from the platform.
    pub requires: Vec<String>,
    /// What templates see of its instance, and of its request, beside the parameters.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub facts: Map<String, Value>,
    /// Whether its plan takes edits back before it is deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_unbind: bool,
    /// How far that is, while the binding is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<Release>,
    /// The answer of a bind: the credentials and what goes with them. The store seals it.
    pub answer: Map<String, Value>,
    pub operation: Operation,
}

/// An unbind that edits objects, before the binding is deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Release {
    Wanted,
    /// The operation on the deployment.
    Began(OperationId),
}

impl Kind {
    /// What templates see in `env.operation`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
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

    /// Takes what the outputs of its type say about it.
    pub fn take_outputs(&mut self, outputs: &Map<String, Value>) {
        let url = outputs.get(DASHBOARD_URL).and_then(Value::as_str);
        self.dashboard_url = url.map(str::to_owned);
    }

    /// What templates see of it in `env`.
    pub fn environment(&self) -> Map<String, Value> {
        let target = self.next.as_ref().unwrap_or(&self.current);
        environment([
            ("instance_id", json!(self.id)),
            ("service_id", json!(target.service_id)),
            ("plan_id", json!(target.plan_id)),
            ("context", json!(target.context)),
            ("operation", json!(self.operation.kind.name())),
            ("instance", Value::Object(self.facts())),
        ])
    }

    /// What plans of the Inter-operator see of it beside its parameters.
    fn facts(&self) -> Map<String, Value> {
        let previous = self.next.as_ref().map(|_| {
            json!({
                "service_id": self.current.service_id, "plan_id": self.current.plan_id,
                "organization_id": self.origin.organization, "space_id": self.origin.space,
            })
        });
        let context = &self.next.as_ref().unwrap_or(&self.current).context;
        environment([
            ("context", json!(context)),
            ("organizationGuid", json!(self.origin.organization)),
            ("spaceGuid", json!(self.origin.space)),
            ("previousValues", json!(previous)),
        ])
    }

    /// What plans see of it in its bindings.
    pub fn facts_of_binding(&self) -> Map<String, Value> {
        let mut facts = self.facts();
        let parameters = Value::Object(self.current.parameters.clone());
        facts.insert("parameters".to_owned(), parameters);
        facts
    }
}

impl Binding {
    /// Before a delete begins: a bind that did not end left no edits.
    pub fn wants_release(&mut self) {
        let was_made = matches!(
            self.phase(),
            InstancePhase::Ready | InstancePhase::DeleteFailed
        );
        self.release = (self.has_unbind && was_made).then_some(Release::Wanted);
    }

    pub fn phase(&self) -> BindingPhase {
        self.operation.phase()
    }

    /// The binding after its operation has ended.
    pub fn ended(mut self, progress: Progress) -> Self {
        self.operation = self.operation.ended(progress);
        if self.phase() == InstancePhase::Gone {
            (self.answer, self.target.parameters) = Default::default();
            self.facts = Default::default();
        }
        self
    }

    /// What templates see of it in `env`.
    pub fn environment(&self) -> Map<String, Value> {
        environment([
            ("instance_id", json!(self.instance)),
            ("binding_id", json!(self.id)),
            ("instance_deployment", json!(self.instance_deployment)),
            ("service_id", json!(self.target.service_id)),
            ("plan_id", json!(self.target.plan_id)),
            ("operation", json!(self.operation.kind.name())),
        ])
        .into_iter()
        .chain(self.facts.clone())
        .collect()
    }
}

fn environment<const N: usize>(entries: [(&str, Value); N]) -> Map<String, Value> {
    let entries = entries.into_iter();
    entries
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}
