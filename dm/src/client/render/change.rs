//! The changes of a write: one line for each resource, with its fields below it.

use common::api::deployer::{FieldChange, ResourceDiff, ResourceIntent};
use common::model::DiffSummary;
use console::Style;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::terminal::text;

/// Longer values are clipped. -o yaml and -o json show them completely.
const VALUE_CHARS: usize = 160;
/// Unchanged lines to show around a change in a text.
const CONTEXT: usize = 2;

/// The sign and the colour for what happens to a resource or a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    New,
    Changed,
    Gone,
    Same,
    Wrong,
}

impl Sign {
    const fn text(self) -> &'static str {
        match self {
            Self::New => "+",
            Self::Changed => "~",
            Self::Gone => "-",
            Self::Same => " ",
            Self::Wrong => "!",
        }
    }

    fn style(self) -> Style {
        match self {
            Self::New => Style::new().green(),
            Self::Changed => Style::new().yellow(),
            Self::Gone | Self::Wrong => Style::new().red(),
            Self::Same => Style::new(),
        }
    }

    /// A line that begins with the sign.
    fn line(self, depth: usize, line: &str, colours: bool) -> String {
        let styled = self.style().force_styling(colours);
        let signed = format!("{} {line}", self.text());
        format!(
            "{}{}\n",
            "    ".repeat(depth),
            styled.apply_to(signed.trim_end())
        )
    }
}

/// The changes, in the order of the report. Unchanged resources appear only in the summary.
pub fn resources(resources: &[ResourceDiff], colours: bool) -> String {
    let changed = |diff: &&ResourceDiff| {
        diff.intent != ResourceIntent::None || diff.error.is_some() || !diff.unknown.is_empty()
    };
    resources
        .iter()
        .filter(changed)
        .map(|diff| resource(diff, colours))
        .collect()
}

fn resource(diff: &ResourceDiff, colours: bool) -> String {
    let (sign, verb) = intent(diff.intent);
    let object = &diff.basis.object;
    let resource = match diff.name.as_str() == object.name {
        true => String::new(),
        false => format!(" (resource {})", diff.name),
    };
    let line = text::line(&format!("{verb:<8} {object}{resource}"));
    let mut shown = sign.line(0, &line, colours);
    if is_run_of_hook(diff) {
        let line = "it is a hook, which runs again and gets a new object";
        shown.push_str(&Sign::Same.line(1, line, colours));
    }
    let shown_changes = diff.changes.iter().filter(|change| is_shown(&change.path));
    for change in shown_changes {
        shown.push_str(&field(change, colours));
    }
    for path in &diff.unknown {
        let line = format!("{}: known only after it is applied", text::line(path));
        shown.push_str(&Sign::Changed.line(1, &line, colours));
    }
    if let Some(error) = &diff.error {
        let line = format!("would fail: {}", text::line(&error.message));
        shown.push_str(&Sign::Wrong.line(1, &line, colours));
    }
    shown
}

/// Only the object of a hook's last run is replaced without regard to what it is.
fn is_run_of_hook(diff: &ResourceDiff) -> bool {
    diff.intent == ResourceIntent::Replace && diff.basis.uid.is_none()
}

/// Whether users want to see the field. Not the name, which is in the line above, and not our own marks.
fn is_shown(path: &str) -> bool {
    const NAMES: [&str; 4] = ["apiVersion", "kind", "metadata.name", "metadata.namespace"];
    const MARKS: [&str; 2] = [
        "['deployment-manager.dev/",
        "['app.kubernetes.io/managed-by']",
    ];
    !NAMES.contains(&path) && !MARKS.iter().any(|mark| path.contains(mark))
}

const fn intent(intent: ResourceIntent) -> (Sign, &'static str) {
    match intent {
        ResourceIntent::Create => (Sign::New, "create"),
        ResourceIntent::Update => (Sign::Changed, "update"),
        ResourceIntent::Replace => (Sign::Changed, "replace"),
        ResourceIntent::Delete => (Sign::Gone, "delete"),
        ResourceIntent::Acquire => (Sign::Changed, "acquire"),
        ResourceIntent::Abandon => (Sign::Gone, "abandon"),
        ResourceIntent::None => (Sign::Same, "keep"),
    }
}

/// One field: both values, or the different lines of a text.
fn field(change: &FieldChange, colours: bool) -> String {
    let path = text::line(&change.path);
    match (&change.before, &change.after) {
        (None, None) => Sign::Changed.line(1, &format!("{path}: (not shown)"), colours),
        (None, Some(after)) => Sign::New.line(1, &format!("{path}: {}", value(after)), colours),
        (Some(before), None) => Sign::Gone.line(1, &format!("{path}: {}", value(before)), colours),
        // Both values are redacted; only the fact of a change can be shown.
        (Some(before), Some(after)) if before == after => {
            let line = format!("{path}: {}, different from before", value(after));
            Sign::Changed.line(1, &line, colours)
        }
        (Some(Value::String(before)), Some(Value::String(after)))
            if before.contains('\n') || after.contains('\n') =>
        {
            let title = Sign::Changed.line(1, &format!("{path}:"), colours);
            title + &lines(before, after, colours)
        }
        (Some(before), Some(after)) => {
            let line = format!("{path}: {} → {}", value(before), value(after));
            Sign::Changed.line(1, &line, colours)
        }
    }
}

fn lines(before: &str, after: &str, colours: bool) -> String {
    let diff = TextDiff::from_lines(before, after);
    let mut shown = String::new();
    for (index, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if index > 0 {
            shown.push_str(&Sign::Same.line(2, "…", colours));
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Delete => Sign::Gone,
                ChangeTag::Insert => Sign::New,
                ChangeTag::Equal => Sign::Same,
            };
            let line = text::line(change.value().trim_end_matches('\n'));
            shown.push_str(&sign.line(2, &line, colours));
        }
    }
    shown
}

fn value(value: &Value) -> String {
    let whole = text::line(&value.to_string());
    match whole.char_indices().nth(VALUE_CHARS) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole,
    }
}

/// Like `1 to create, 2 to update, 5 unchanged`.
pub fn summary(summary: &DiffSummary) -> String {
    let counts = [
        (summary.create, "to create"),
        (summary.acquire, "to acquire"),
        (summary.update, "to update"),
        (summary.replace, "to replace"),
        (summary.delete, "to delete"),
        (summary.abandon, "to abandon"),
        (summary.unchanged, "unchanged"),
        (summary.failing, "would fail"),
    ];
    let shown: Vec<_> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    match shown.is_empty() {
        true => "no resources".to_owned(),
        false => shown.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn diffs() -> Vec<ResourceDiff> {
        let object = |kind: &str, name: &str| json!({"object": {"apiVersion": "v1", "kind": kind, "namespace": "shop", "name": name}});
        serde_json::from_value(json!([
            {"name": "web", "type": "Deployment", "intent": "UPDATE", "basis": object("Deployment", "web"), "changes": [
                {"path": "spec.replicas", "before": 3, "after": 5},
                {"path": "metadata.labels['a.b/team']", "after": "x\u{1b}[2J"},
                {"path": "spec.paused", "before": true},
                {"path": "metadata.annotations['deployment-manager.dev/wave']", "after": "1"},
            ], "unknown": ["spec.template.spec.containers[0].env[0].value"]},
            {"name": "settings", "type": "ConfigMap", "intent": "UPDATE", "basis": object("ConfigMap", "web-settings"), "changes": [
                {"path": "data['nginx.conf']", "before": "a\nb\nc\nd\ne\nf\n", "after": "a\nb\nc\nd\ne\ng\n"},
                {"path": "data.url", "before": "(redacted)", "after": "(redacted)"},
            ]},
            {"name": "password", "type": "Secret", "intent": "UPDATE", "basis": object("Secret", "password"), "changes": [{"path": "data.password"}]},
            {"name": "kept", "type": "Service", "intent": "NONE", "basis": object("Service", "kept")},
            {"name": "new", "type": "Pod", "intent": "CREATE", "basis": object("Pod", "new"), "error": {"code": "RESOURCES_FAILED", "message": "quota exceeded"}},
            {"name": "old", "type": "Pod", "intent": "DELETE", "basis": object("Pod", "old")},
        ]))
        .unwrap()
    }

    #[test]
    fn changes_are_told_by_resource_and_field() {
        let summary = summary(&DiffSummary::summarize(&diffs()));
        insta::assert_snapshot!(format!("{}{summary}", resources(&diffs(), false)));
    }

    #[test]
    fn a_hook_that_runs_again_says_so() {
        let diffs: Vec<ResourceDiff> = serde_json::from_value(json!([
            {"name": "prepare", "type": "Job", "intent": "REPLACE", "basis": {"object": {"apiVersion": "batch/v1", "kind": "Job", "name": "prepare"}}},
        ]))
        .unwrap();
        let shown = resources(&diffs, false);
        assert_eq!(
            shown,
            "~ replace  Job prepare\n      it is a hook, which runs again and gets a new object\n"
        );
    }

    #[test]
    fn colours_tell_what_comes_and_goes() {
        let shown = resources(&diffs(), true);
        assert!(
            shown.contains("\u{1b}[32m+ create   Pod shop/new\u{1b}[0m"),
            "{shown:?}"
        );
        assert!(
            shown.contains("\u{1b}[31m- delete   Pod shop/old\u{1b}[0m"),
            "{shown:?}"
        );
        assert!(
            !shown.contains("[2J\u{1b}") && !shown.contains("\u{1b}[2J"),
            "{shown:?}"
        );
    }
}
