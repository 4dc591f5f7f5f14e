//! Hooks: resources that run at an event in the life of a deployment.

use serde::{Deserialize, Serialize};

use super::name::ResourceName;

/// When a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HookEvent {
    /// Before the first objects of the chart. Its definitions exist already.
    PreInstall,
    /// When the first objects of the chart are ready.
    PostInstall,
    /// Before an update of the chart's objects.
    PreUpgrade,
    /// When the chart's updated objects are ready.
    PostUpgrade,
    /// Before a rollback of the chart's objects.
    PreRollback,
    /// When the chart's objects are ready after a rollback.
    PostRollback,
    /// Before the objects are deleted.
    PreDelete,
    /// When the objects are gone.
    PostDelete,
    /// Only with `POST /deployments/{d}/test`.
    Test,
}

impl HookEvent {
    /// The spelling in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PreInstall => "pre-install",
            Self::PostInstall => "post-install",
            Self::PreUpgrade => "pre-upgrade",
            Self::PostUpgrade => "post-upgrade",
            Self::PreRollback => "pre-rollback",
            Self::PostRollback => "post-rollback",
            Self::PreDelete => "pre-delete",
            Self::PostDelete => "post-delete",
            Self::Test => "test",
        }
    }
}

/// When the object of a hook is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HookDeletePolicy {
    /// Before it runs again.
    BeforeHookCreation,
    /// At the end of the operation, if it succeeded.
    HookSucceeded,
    /// At the end of the operation, if it failed.
    HookFailed,
}

/// What `metadata.hook` of a resource says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Hook {
    /// Without an event it never runs.
    pub events: Vec<HookEvent>,
    /// Hooks of one event run in the order of their weights, then of their names.
    #[serde(default)]
    pub weight: i64,
    /// Default: `before-hook-creation`, as in Helm.
    #[serde(default = "default_policies")]
    pub delete_policies: Vec<HookDeletePolicy>,
}

/// As in Helm.
fn default_policies() -> Vec<HookDeletePolicy> {
    vec![HookDeletePolicy::BeforeHookCreation]
}

impl Hook {
    /// Whether the event is one of its events.
    pub fn runs_at(&self, event: HookEvent) -> bool {
        self.events.contains(&event)
    }

    /// Whether the policy is one of its policies.
    pub fn has(&self, policy: HookDeletePolicy) -> bool {
        self.delete_policies.contains(&policy)
    }
}

/// A chart in a deployment, by the names of the resources that lead to it. The empty path is the deployment itself.
pub type ChartPath = Vec<ResourceName>;

/// How often a chart of a deployment was applied with success.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AppliedChart {
    /// The chart in the deployment.
    pub chart: ChartPath,
    /// 0: never, so that its next hooks are those of an installation.
    pub times: u64,
}
