//! What an operation did, in one line: how many resources of each kind of end, and how long it took.

use std::collections::BTreeMap;

use common::api::deployer::{Action, ResourceReport, ResourceState};
use common::duration;
use common::model::Operation;

/// The ends of resources, by the resource.
#[derive(Debug, Default)]
pub struct Tally(BTreeMap<String, End>);

/// In the order in which they are counted out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Created,
    Updated,
    Unchanged,
    Deleted,
    Abandoned,
    Failed,
    Skipped,
}

impl End {
    fn of(report: &ResourceReport) -> Option<Self> {
        match report.state {
            ResourceState::Pending | ResourceState::Applied | ResourceState::Deleting => None,
            ResourceState::Failed => Some(Self::Failed),
            ResourceState::Skipped => Some(Self::Skipped),
            ResourceState::Ready | ResourceState::Gone => match report.action? {
                Action::Created => Some(Self::Created),
                Action::Configured => Some(Self::Updated),
                Action::Unchanged => Some(Self::Unchanged),
                Action::Deleted => Some(Self::Deleted),
                Action::Abandoned => Some(Self::Abandoned),
            },
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
            Self::Deleted => "deleted",
            Self::Abandoned => "left in the cluster",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

impl Tally {
    /// Events repeat after a restart of the manager: the last one of a resource counts.
    pub fn count(&mut self, report: &ResourceReport) {
        if let Some(end) = End::of(report) {
            let object = report.object.as_ref().map(ToString::to_string);
            let key = format!("{} {}", report.name, object.unwrap_or_default());
            self.0.insert(key, end);
        }
    }

    /// Like `update web: 2 updated, 64 unchanged in 12s`. None if no resource came to an end.
    pub fn line(&self, operation: &Operation) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let mut counts: BTreeMap<End, usize> = BTreeMap::new();
        for end in self.0.values() {
            *counts.entry(*end).or_default() += 1;
        }
        let counts = counts.iter();
        let counts: Vec<_> = counts
            .map(|(end, count)| format!("{count} {}", end.as_str()))
            .collect();
        let took = operation.end_time.map(|end| {
            let took = end.duration_since(operation.start_time);
            let took = took.try_into().unwrap_or_default();
            format!(" in {}", duration::render(took))
        });
        Some(format!(
            "{} {}: {}{}",
            operation.operation_type.name(),
            operation.deployment,
            counts.join(", "),
            took.unwrap_or_default()
        ))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_ends_are_counted_and_the_last_one_of_a_resource_counts() {
        let report = |name: &str, state: &str, action: Value| {
            let report = json!({"name": name, "type": "Pod", "state": state, "action": action});
            serde_json::from_value::<ResourceReport>(report).unwrap()
        };
        let mut tally = Tally::default();
        for (name, state, action) in [
            ("a", "READY", json!("CREATED")),
            ("b", "APPLIED", json!("CONFIGURED")),
            ("b", "READY", json!("CONFIGURED")),
            ("c", "READY", json!("UNCHANGED")),
            ("d", "READY", json!("UNCHANGED")),
            ("a", "FAILED", json!("CREATED")),
            ("e", "GONE", json!("DELETED")),
            ("f", "GONE", Value::Null),
        ] {
            tally.count(&report(name, state, action));
        }
        let operation: Operation = serde_json::from_value(json!({
            "id": "op-1", "type": "UPDATE", "deployment": "web", "user": "ada", "status": "DONE",
            "progress": {"step": "", "done": 0, "total": 0},
            "startTime": "2026-01-01T00:00:00Z", "endTime": "2026-01-01T00:01:12Z",
        }))
        .unwrap();
        let line = tally.line(&operation).unwrap();
        assert_eq!(
            line,
            "update web: 1 updated, 2 unchanged, 1 deleted, 1 failed in 72 s"
        );
        assert_eq!(Tally::default().line(&operation), None);
    }
}
