//! A deployment and its live resources, for users.

use common::api::deployer::{FieldChange, ObjectState};
use common::api::manager::LiveResource;
use common::model::{Deployment, Operation, OperationStatus, Output};
use console::Style;
use jiff::Timestamp;
use serde_json::Value;

use crate::terminal::table::Table;
use crate::terminal::text;

/// Each primitive, with the reason if it is not ready.
pub fn resources(items: &[LiveResource]) -> Table {
    let mut table = Table::new(&["RESOURCE", "KIND", "OBJECT", "STATE", "REASON"]);
    for LiveResource { status: item, .. } in items {
        let object = &item.applied.object;
        let name = match &object.namespace {
            Some(namespace) => format!("{namespace}/{}", object.name),
            None => object.name.clone(),
        };
        let reason = item.reason.as_deref().unwrap_or_default();
        table.row([
            item.applied.resource.as_str(),
            &object.kind,
            &name,
            state(item.state),
            reason,
        ]);
    }
    table
}

/// The drift of each resource, below the table: `live value (asked for: …)`.
pub fn drift(items: &[LiveResource], colours: bool) -> String {
    let style = Style::new().yellow().force_styling(colours);
    let drifted = items.iter().filter(|item| !item.status.drift.is_empty());
    let mut shown = String::new();
    for item in drifted {
        let object = text::line(&item.status.applied.object.to_string());
        let title = format!("~ {object} was changed by others:");
        shown.push_str(&format!("\n{}\n", style.apply_to(title)));
        for change in &item.status.drift {
            shown.push_str(&format!("    {}\n", drifted_field(change)));
        }
    }
    shown
}

fn drifted_field(change: &FieldChange) -> String {
    let value = |value: &Option<Value>| match value {
        Some(value) => value.to_string(),
        None => "absent".to_owned(),
    };
    let line = match (&change.before, &change.after) {
        (None, None) => format!("{}: (not shown)", change.path),
        (live, asked) => format!(
            "{}: {} (asked for: {})",
            change.path,
            value(live),
            value(asked)
        ),
    };
    text::line(&line)
}

pub const fn state(state: ObjectState) -> &'static str {
    match state {
        ObjectState::Ready => "ready",
        ObjectState::NotReady => "not ready",
        ObjectState::Failed => "failed",
        ObjectState::Missing => "missing",
        ObjectState::Replaced => "replaced by others",
    }
}

/// The summary that `dm get` prints above the resources. What is too long for a line stands below its title.
pub fn summary(deployment: &Deployment, now: Timestamp, width: Option<usize>) -> String {
    let ago = |time: Option<Timestamp>| time.map(|time| format!("{} ago", text::age(time, now)));
    let labels: Vec<_> = deployment
        .labels
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let lines = [
        ("Name", Some(deployment.name.to_string())),
        ("Namespace", Some(deployment.namespace.to_string())),
        (
            "Cluster",
            Some(&deployment.cluster)
                .filter(|cluster| !cluster.is_default())
                .map(ToString::to_string),
        ),
        ("Description", Some(deployment.description.clone())),
        ("Labels", Some(labels.join(", "))),
        ("Status", Some(format!("{:?}", deployment.state.status))),
        ("Created", ago(Some(deployment.created_at))),
        ("Modified", ago(deployment.modified_at)),
        ("Deployed", ago(deployment.deployed_at)),
        ("Deleted", ago(deployment.deleted_at)),
        (
            "Manifest",
            deployment.latest_manifest.as_ref().map(ToString::to_string),
        ),
        ("Revision", deployment.revision.map(|number| number.to_string())),
        (
            "Preview",
            deployment.preview.as_ref().map(|preview| {
                format!(
                    "{preview} is pending: dm preview {0} shows it, dm update {0} --commit applies it",
                    deployment.name
                )
            }),
        ),
        (
            "Operation",
            deployment.operation.as_ref().map(ToString::to_string),
        ),
    ];
    let mut shown = String::new();
    for (title, value) in lines {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            shown.push_str(&titled(title, &value, width));
        }
    }
    shown.push_str(&outputs(&deployment.outputs, width));
    for error in &deployment.state.errors {
        shown.push_str(&titled("Error", error, width));
    }
    shown
}

fn titled(title: &str, value: &str, width: Option<usize>) -> String {
    let (title, value) = (format!("{title}:"), text::line(value));
    let line = format!("{title:<13}{value}\n");
    match width.is_some_and(|width| line.chars().count() > width + 1) {
        true => format!("{title}\n{}", text::wrapped(&value, "    ", width)),
        false => line,
    }
}

/// `name = value`, one per line.
pub fn outputs(outputs: &[Output], width: Option<usize>) -> String {
    let shown = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let line = |output: &Output| {
        let value = format!("{} = {}", output.name, shown(&output.value));
        titled("Output", &value, width)
    };
    outputs.iter().map(line).collect()
}

pub fn operations(items: &[Operation], now: Timestamp) -> Table {
    let mut table = Table::new(&[
        "OPERATION",
        "TYPE",
        "DEPLOYMENT",
        "STATUS",
        "PROGRESS",
        "STARTED",
        "TOOK",
        "ERROR",
    ]);
    for item in items {
        let progress = format!("{}/{}", item.progress.done, item.progress.total);
        let took = text::age(item.start_time, item.end_time.unwrap_or(now));
        let error = item.error.as_ref().map_or("", |error| &error.message);
        table.row([
            item.id.as_str(),
            item.operation_type.name(),
            item.deployment.as_str(),
            operation_status(item),
            &progress,
            &text::age(item.start_time, now),
            &took,
            error,
        ]);
    }
    table
}

fn operation_status(operation: &Operation) -> &'static str {
    match operation.status {
        OperationStatus::Pending => "pending",
        OperationStatus::Running => "running",
        OperationStatus::Done if operation.error.is_some() => "failed",
        OperationStatus::Done => "done",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn now() -> Timestamp {
        "2026-01-02T03:04:05Z".parse().unwrap()
    }

    #[test]
    fn a_deployment_is_summed_up_with_its_errors_and_outputs() {
        let deployment: Deployment = serde_json::from_value(json!({
            "name": "web", "namespace": "default", "labels": {"team": "a"}, "createdAt": "2026-01-02T03:00:05Z",
            "state": {"status": "Failed", "errors": ["web-rc: image not found\u{1b}[2J"]}, "latestManifest": "m-1",
            "fingerprint": "f", "outputs": [{"name": "url", "value": "http://x"}, {"name": "ports", "value": [80]}],
        }))
        .unwrap();
        insta::assert_snapshot!(summary(&deployment, now(), None));
    }

    #[test]
    fn no_line_of_a_summary_is_wider_than_the_terminal() {
        let deployment: Deployment = serde_json::from_value(json!({
            "name": "web", "namespace": "default", "createdAt": "2026-01-02T03:00:05Z", "fingerprint": "f",
            "state": {"status": "Failed", "errors": ["web-rc: the image of no container can be found anywhere"]},
            "operation": "01a2094164f4724f9f74fab1ccf912e4", "outputs": [{"name": "url", "value": "http://web.shop.example.com"}],
        }))
        .unwrap();
        let shown = summary(&deployment, now(), Some(40));
        assert!(shown.lines().all(|line| line.len() <= 40), "{shown}");
        assert!(
            shown.contains("Operation:\n    01a2094164f4724f9f74fab1ccf912e4\n"),
            "{shown}"
        );
    }

    #[test]
    fn resources_say_why_they_are_not_ready() {
        let items: Vec<LiveResource> = serde_json::from_value(json!([
            {"resource": "web-service", "apiVersion": "v1", "kind": "Service", "namespace": "default", "name": "web", "uid": "1", "state": "READY"},
            {"resource": "web", "apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": "web", "uid": "2", "state": "NOT_READY", "reason": "1 of 3 pods are ready"},
        ]))
        .unwrap();
        insta::assert_snapshot!(resources(&items).render(None));
    }

    #[test]
    fn operations_tell_how_they_ended() {
        let items: Vec<Operation> = serde_json::from_value(json!([
            {"id": "op-2", "type": "UPDATE", "deployment": "web", "user": "anonymous", "status": "RUNNING", "progress": {"step": "applying", "done": 1, "total": 4}, "startTime": "2026-01-02T03:04:00Z"},
            {"id": "op-1", "type": "CREATE", "deployment": "web", "user": "anonymous", "status": "DONE", "progress": {"step": "applying", "done": 3, "total": 4}, "startTime": "2026-01-02T01:00:00Z", "endTime": "2026-01-02T01:00:07Z", "error": {"code": "RESOURCES_FAILED", "message": "1 resource failed"}},
        ]))
        .unwrap();
        insta::assert_snapshot!(operations(&items, now()).render(None));
    }
}
