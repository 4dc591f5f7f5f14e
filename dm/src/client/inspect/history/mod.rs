//! `dm history`: lists the numbered revisions of a deployment.

pub mod revision;

use clap::Args;
use common::api::manager::ManifestSummary;
use common::model::{
    Deployment, DeploymentName, DeploymentStatus, ManifestName, Operation, OperationId,
    OperationType,
};
use jiff::Timestamp;
use serde::Serialize;

use crate::client::session::{Session, all_pages};
use crate::error::Failure;
use crate::terminal::table::Table;
use crate::terminal::text;

/// List the revisions of a deployment: when, who, by which operation, with which templates, and how it ended.
///
/// Each configuration that was applied is a revision, and its stored form is a manifest. `dm rollback NAME REVISION` goes back
/// to one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm history web
  dm rollback web 1
  dm history web -o json")]
pub struct History {
    pub name: DeploymentName,
}

#[derive(Debug, Serialize)]
struct Revisions {
    items: Vec<Revision>,
}

/// One manifest, with the operation that applied it first.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Revision {
    pub revision: u64,
    pub manifest: ManifestName,
    pub created_at: Timestamp,
    pub state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<OperationId>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub operation_type: Option<OperationType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub templates: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum State {
    /// It is what the cluster has.
    Deployed,
    /// It is being applied.
    InProgress,
    Failed,
    /// It was applied, and a later revision replaced it.
    Superseded,
    /// It is a preview, which is not applied.
    Preview,
}

impl State {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Deployed => "deployed",
            Self::InProgress => "in progress",
            Self::Failed => "failed",
            Self::Superseded => "superseded",
            Self::Preview => "preview",
        }
    }
}

impl History {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let items = revisions(session, &self.name).await?;
        let width = session.terminal.width;
        session.show(&Revisions { items }, |shown| {
            table(&shown.items, Timestamp::now()).render(width)
        })
    }
}

/// All revisions, the oldest first.
pub async fn revisions(
    session: &Session<'_, '_>,
    name: &DeploymentName,
) -> Result<Vec<Revision>, Failure> {
    let client = &session.client;
    let deployment = client.deployment(name).await?;
    let manifests = all_pages(|page| async move { client.manifests(name, &page).await }).await?;
    let operations =
        all_pages(|page| async move { client.operations(Some(name), &page).await }).await?;
    Ok(joined(&deployment, manifests.items, &operations.items))
}

/// The manifest of a revision.
pub async fn manifest_of(
    session: &Session<'_, '_>,
    name: &DeploymentName,
    revision: u64,
) -> Result<ManifestName, Failure> {
    let client = &session.client;
    let manifests = all_pages(|page| async move { client.manifests(name, &page).await }).await?;
    let numbered = numbered(manifests.items).find(|(number, _)| *number == revision);
    numbered.map(|(_, found)| found.name).ok_or_else(|| {
        Failure::not_found(format!(
            "{name} has no revision {revision}; dm history {name} lists them"
        ))
    })
}

/// A manifest for people, like `revision 2 (sites/site:v2)`.
pub async fn shown(
    session: &Session<'_, '_>,
    name: &DeploymentName,
    manifest: &ManifestName,
) -> Result<String, Failure> {
    let client = &session.client;
    let manifests = all_pages(|page| async move { client.manifests(name, &page).await }).await?;
    Ok(revision_of(manifests.items, manifest).unwrap_or_else(|| manifest.to_string()))
}

fn revision_of(manifests: Vec<ManifestSummary>, manifest: &ManifestName) -> Option<String> {
    let (number, found) = numbered(manifests).find(|(_, found)| found.name == *manifest)?;
    let templates = found.templates.join(", ");
    Some(match templates.is_empty() {
        true => format!("revision {number}"),
        false => format!("revision {number} ({templates})"),
    })
}

/// Manifests of earlier managers have no numbers, and come first: they get those of their places.
fn numbered(manifests: Vec<ManifestSummary>) -> impl Iterator<Item = (u64, ManifestSummary)> {
    let places = (1..).zip(manifests);
    places.map(|(place, manifest)| (manifest.revision.unwrap_or(place), manifest))
}

fn joined(
    deployment: &Deployment,
    manifests: Vec<ManifestSummary>,
    operations: &[Operation],
) -> Vec<Revision> {
    let revision = |(revision, manifest): (u64, ManifestSummary)| {
        let mut applied = operations.iter().filter(|operation| {
            operation.manifest.as_ref() == Some(&manifest.name)
                && !matches!(
                    operation.operation_type,
                    OperationType::Correct | OperationType::Test
                )
        });
        // The newest comes first, and only a commit has its manifest from an earlier operation.
        let operation = applied.next();
        Revision {
            revision,
            state: state(deployment, &manifest.name, operation),
            created_at: manifest.created_at,
            operation: operation.map(|operation| operation.id.clone()),
            operation_type: operation.map(|operation| operation.operation_type),
            user: operation.map(|operation| operation.user.clone()),
            manifest: manifest.name,
            templates: manifest.templates,
        }
    };
    numbered(manifests).map(revision).collect()
}

fn state(deployment: &Deployment, manifest: &ManifestName, operation: Option<&Operation>) -> State {
    if deployment.preview.as_ref() == Some(manifest) {
        return State::Preview;
    }
    let is_latest = deployment.latest_manifest.as_ref() == Some(manifest);
    match deployment.state.status {
        DeploymentStatus::Deployed if is_latest => State::Deployed,
        DeploymentStatus::Failed if is_latest => State::Failed,
        DeploymentStatus::Created | DeploymentStatus::Modified if is_latest => State::InProgress,
        _ if operation.is_some_and(|operation| operation.error.is_some()) => State::Failed,
        _ => State::Superseded,
    }
}

fn table(items: &[Revision], now: Timestamp) -> Table {
    let mut table = Table::new(&[
        "REVISION",
        "STATE",
        "AGE",
        "USER",
        "BY",
        "MANIFEST",
        "TEMPLATES",
    ]);
    for item in items {
        table.row([
            &item.revision.to_string(),
            item.state.as_str(),
            &text::age(item.created_at, now),
            item.user.as_deref().unwrap_or_default(),
            item.operation_type.map_or("", OperationType::name),
            item.manifest.as_str(),
            &item.templates.join(", "),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn deployment() -> Deployment {
        serde_json::from_value(json!({
            "name": "web", "namespace": "default", "createdAt": "2026-01-01T00:00:00Z", "fingerprint": "f",
            "state": {"status": "Deployed", "errors": []}, "latestManifest": "m-3", "deployedManifest": "m-3", "preview": "m-4",
        }))
        .unwrap()
    }

    fn operation(kind: &str, manifest: &str, error: Value) -> Value {
        json!({"id": format!("op-{manifest}"), "type": kind, "deployment": "web", "user": "ada", "status": "DONE", "manifest": manifest,
            "progress": {"step": "", "done": 0, "total": 0}, "startTime": "2026-01-01T00:00:00Z", "error": error})
    }

    #[test]
    fn a_manifest_is_shown_by_its_number_and_templates() {
        let manifest = |name: &str, templates: &[&str]| json!({"name": name, "deployment": "web", "createdAt": "2026-01-01T00:00:00Z", "templates": templates});
        let manifests = json!([
            manifest("m-1", &[]),
            manifest("m-2", &["a:v1.0.0", "b:v2.0.0"])
        ]);
        for (name, expected) in [
            ("m-1", Some("revision 1")),
            ("m-2", Some("revision 2 (a:v1.0.0, b:v2.0.0)")),
            ("m-3", None),
        ] {
            let manifests = serde_json::from_value(manifests.clone()).unwrap();
            let found = revision_of(manifests, &ManifestName::parse(name).unwrap());
            assert_eq!(found.as_deref(), expected);
        }
    }

    #[test]
    fn each_revision_says_who_made_it_how_and_what_became_of_it() {
        let manifest = |name: &str| json!({"name": name, "deployment": "web", "createdAt": "2026-01-01T00:00:00Z", "templates": ["redis:v1.0.1"]});
        let mut manifests = ["m-1", "m-2", "m-3", "m-4"].map(manifest);
        for (place, manifest) in manifests.iter_mut().enumerate().skip(1) {
            manifest["revision"] = json!(place + 1);
        }
        let failed = json!({"code": "RESOURCES_FAILED", "message": "no"});
        let operations = [
            operation("PREVIEW", "m-4", Value::Null),
            operation("CORRECT", "m-3", failed.clone()),
            operation("ROLLBACK", "m-3", Value::Null),
            operation("UPDATE", "m-2", failed.clone()),
            operation("TEST", "m-1", failed),
            operation("CREATE", "m-1", Value::Null),
        ];
        let read = |values: &[Value]| serde_json::from_value(Value::from(values.to_vec())).unwrap();
        let operations: Vec<Operation> =
            serde_json::from_value(Value::from(operations.to_vec())).unwrap();
        let items = joined(&deployment(), read(&manifests), &operations);
        let now = "2026-01-01T00:01:00Z".parse().unwrap();
        insta::assert_snapshot!(table(&items, now).render(None), @r"
        REVISION  STATE       AGE  USER  BY        MANIFEST  TEMPLATES
        1         superseded  60s  ada   create    m-1       redis:v1.0.1
        2         failed      60s  ada   update    m-2       redis:v1.0.1
        3         deployed    60s  ada   rollback  m-3       redis:v1.0.1
        4         preview     60s  ada   preview   m-4       redis:v1.0.1
        ");
    }
}
