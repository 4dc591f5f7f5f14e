//! The state of a resource, in a few words.

use common::api::deployer::{Action, ResourceReport, ResourceState};
use console::{Style, StyledObject};

use crate::terminal::text;

/// The resource's object, or its name if it has no object yet.
pub fn name(report: &ResourceReport) -> String {
    text::line(&match &report.object {
        Some(object) => format!("{} {}", object.kind, object.name),
        None => format!("{} {}", report.type_name, report.name),
    })
}

/// Empty if there is nothing to report yet. Without the cause of a failure, which the error of the operation has.
pub fn said(report: &ResourceReport) -> String {
    let reason = report.reason.as_deref();
    let because = |what: &str| match reason {
        Some(reason) => format!("{what}: {reason}"),
        None => what.to_owned(),
    };
    let said = match report.state {
        ResourceState::Pending | ResourceState::Applied => {
            reason.map_or_else(String::new, |reason| format!("waiting: {reason}"))
        }
        ResourceState::Ready => match report.action {
            Some(action) => format!("ready ({})", done(action)),
            None => "ready".to_owned(),
        },
        ResourceState::Deleting => {
            reason.map_or_else(String::new, |reason| format!("deleting: {reason}"))
        }
        ResourceState::Gone => because(report.action.map_or("gone", done)),
        ResourceState::Failed => "failed".to_owned(),
        ResourceState::Skipped => because("skipped"),
    };
    text::line(&said)
}

/// Why a resource failed.
pub fn cause(report: &ResourceReport) -> Option<&str> {
    match &report.error {
        Some(error) => Some(without_object(&error.message)),
        None => report.reason.as_deref(),
    }
}

/// Without the resource and the object before the reason: the line begins with them.
fn without_object(message: &str) -> &str {
    match message.strip_prefix("resource ") {
        Some(rest) => rest.split_once("): ").map_or(message, |(_, reason)| reason),
        None => message,
    }
}

const fn done(action: Action) -> &'static str {
    match action {
        Action::Created => "created",
        Action::Configured => "updated",
        Action::Unchanged => "unchanged",
        Action::Deleted => "deleted",
        Action::Abandoned => "left in the cluster",
    }
}

/// Whether the operation has finished with the resource.
pub const fn is_end(state: ResourceState) -> bool {
    match state {
        ResourceState::Pending | ResourceState::Applied | ResourceState::Deleting => false,
        ResourceState::Ready
        | ResourceState::Gone
        | ResourceState::Failed
        | ResourceState::Skipped => true,
    }
}

/// The mark before the line of a finished resource, on a terminal.
pub fn mark(state: ResourceState) -> StyledObject<&'static str> {
    let style = Style::new().for_stderr();
    match state {
        ResourceState::Failed => style.red().apply_to("✗"),
        ResourceState::Skipped => style.yellow().apply_to("–"),
        _ => style.green().apply_to("✓"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_state_is_told_in_a_few_words() {
        let report = |state: &str, more: serde_json::Value| {
            let mut report = json!({"name": "web", "type": "Deployment", "state": state});
            if let (Some(report), Some(more)) = (report.as_object_mut(), more.as_object()) {
                report.extend(more.clone());
            }
            said(&serde_json::from_value(report).unwrap())
        };
        let reason = json!({"reason": "1 of 3 pods are ready"});
        let said = [
            report("PENDING", json!({})),
            report("APPLIED", reason),
            report("READY", json!({"action": "CONFIGURED"})),
            report("GONE", json!({"action": "DELETED"})),
            report(
                "FAILED",
                json!({"error": {"code": "RESOURCES_FAILED", "message": "no image"}}),
            ),
            report("SKIPPED", json!({"reason": "db\u{1b} failed"})),
        ];
        insta::assert_snapshot!(said.join("\n"), @r"

        waiting: 1 of 3 pods are ready
        ready (updated)
        deleted
        failed
        skipped: db\u{1b} failed
        ");
    }
}
