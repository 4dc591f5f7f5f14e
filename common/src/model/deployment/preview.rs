//! A preview: what applying a manifest would do, at the time of the preview.

use serde::{Deserialize, Serialize};

use crate::api::deployer::{Policies, ResourceDiff, ResourceIntent};
use crate::model::name::ManifestName;

/// What applying a manifest would do, at the time of the preview.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Preview {
    /// The latest manifest of the deployment at that time. After another update, the preview cannot be committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<ManifestName>,
    /// The policies of the request. The commit uses them.
    #[serde(default)]
    pub policies: Policies,
    /// `true`: neither the preview nor its commit runs hooks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_hooks: bool,
    /// How many resources have each action.
    pub summary: DiffSummary,
    /// Every desired resource in its order, then the objects to prune.
    pub resources: Vec<ResourceDiff>,
}

/// How many resources have each action.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct DiffSummary {
    /// Objects that would be created.
    pub create: usize,
    /// Objects with fields that would change.
    pub update: usize,
    /// Objects that would be deleted and created again.
    pub replace: usize,
    /// Objects that would be deleted.
    pub delete: usize,
    /// Existing objects that would be taken over.
    pub acquire: usize,
    /// Objects that would be left in the cluster, and no longer belong to the deployment.
    pub abandon: usize,
    /// Objects that would stay as they are.
    pub unchanged: usize,
    /// How many of them would fail.
    pub failing: usize,
}

impl DiffSummary {
    /// One resource can count twice: once for its intent, and in `failing`.
    pub fn summarize(resources: &[ResourceDiff]) -> Self {
        let mut summary = Self::default();
        for resource in resources {
            *summary.count(resource.intent) += 1;
            summary.failing += usize::from(resource.error.is_some());
        }
        summary
    }

    /// Whether anything would change or fail.
    pub fn is_change(&self) -> bool {
        *self
            != Self {
                unchanged: self.unchanged,
                ..Self::default()
            }
    }

    fn count(&mut self, intent: ResourceIntent) -> &mut usize {
        match intent {
            ResourceIntent::Create => &mut self.create,
            ResourceIntent::Update => &mut self.update,
            ResourceIntent::Replace => &mut self.replace,
            ResourceIntent::Delete => &mut self.delete,
            ResourceIntent::Acquire => &mut self.acquire,
            ResourceIntent::Abandon => &mut self.abandon,
            ResourceIntent::None => &mut self.unchanged,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn summary(intents: &[&str]) -> DiffSummary {
        let object = json!({"apiVersion": "v1", "kind": "Pod", "name": "a"});
        let diff = |intent: &&str| json!({"name": "a", "type": "Pod", "intent": intent, "basis": {"object": object}});
        let resources: Vec<ResourceDiff> =
            serde_json::from_value(intents.iter().map(diff).collect()).unwrap();
        DiffSummary::summarize(&resources)
    }

    #[test]
    fn a_summary_counts_what_would_be_done() {
        let summary = summary(&["CREATE", "UPDATE", "CREATE", "DELETE", "NONE"]);
        let expected = DiffSummary {
            create: 2,
            update: 1,
            delete: 1,
            unchanged: 1,
            ..DiffSummary::default()
        };
        assert_eq!(summary, expected);
    }

    #[test]
    fn only_what_stays_as_it_is_is_no_change() {
        assert!(!summary(&["NONE", "NONE"]).is_change());
        assert!(summary(&["NONE", "ABANDON"]).is_change());
    }
}
