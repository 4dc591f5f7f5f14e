//! Why a deployment has an object: the way from its configuration to the object, and who wrote it.

use common::model::{
    DeploymentName, LayoutPath, Manifest, ManifestName, Origin, ResourceName, TypeName,
};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::object::find;
use crate::client::inspect::history::{self, Revision};
use crate::client::session::Session;
use crate::error::Failure;
use crate::terminal::table::Table;
use crate::terminal::{format, text};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Why {
    deployment: DeploymentName,
    manifest: ManifestName,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<u64>,
    created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// The operation that applied the manifest first, such as `update`.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'static str>,
    /// From the configuration's own resource to the object.
    steps: Vec<Step>,
}

#[derive(Debug, Serialize)]
struct Step {
    path: LayoutPath,
    name: ResourceName,
    #[serde(rename = "type")]
    type_name: TypeName,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<Origin>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// The inputs of a template.
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<Value>,
}

pub async fn why(
    session: &Session<'_, '_>,
    name: &DeploymentName,
    manifest: &ManifestName,
    object: &str,
) -> Result<Why, Failure> {
    let manifest = session.client.manifest(name, manifest).await?;
    let revisions = history::revisions(session, name).await?;
    let mut revisions = revisions.into_iter();
    let revision = revisions.find(|revision| revision.manifest == manifest.name);
    answer(manifest, revision, object)
}

pub fn answer(
    manifest: Manifest,
    revision: Option<Revision>,
    object: &str,
) -> Result<Why, Failure> {
    let path = find(&manifest, object)?;
    let mut steps = Vec::new();
    let mut above = Some(path);
    while let Some(path) = above {
        above = path.parent();
        steps.extend(step(&manifest, path));
    }
    steps.reverse();
    Ok(Why {
        deployment: manifest.deployment,
        manifest: manifest.name,
        revision: revision.as_ref().map(|revision| revision.revision),
        created_at: manifest.created_at,
        by: (revision.as_ref()).and_then(|revision| Some(revision.operation_type?.name())),
        user: revision.and_then(|revision| revision.user),
        steps,
    })
}

/// `None` for the root, which is no resource.
fn step(manifest: &Manifest, path: LayoutPath) -> Option<Step> {
    let node = manifest.layout.at(&path)?;
    let mut resolved = manifest.resolved_types.iter();
    let resolved = resolved.find(|resolved| resolved.type_name == node.type_name);
    Some(Step {
        name: node.name.clone(),
        type_name: node.type_name.clone(),
        origin: node.origin.clone(),
        version: resolved.and_then(|resolved| resolved.version.clone()),
        url: resolved.map(|resolved| resolved.url.clone()),
        properties: node.properties.clone(),
        path,
    })
}

pub fn render(why: &Why, now: Timestamp, width: Option<usize>) -> String {
    let revision = why.revision.map(|number| format!("revision {number}, "));
    let by = why.by.map(|by| format!(", {by}"));
    let user = why.user.as_ref().map(|user| format!(" by {user}"));
    let written = format!(
        "{}{}{}{}, {} ago",
        revision.unwrap_or_default(),
        why.manifest,
        by.unwrap_or_default(),
        user.unwrap_or_default(),
        text::age(why.created_at, now),
    );
    let mut table = Table::new(&["NAME", "TYPE", "WRITTEN IN", "VERSION", "PATH"]);
    for (depth, step) in why.steps.iter().enumerate() {
        let branch = match depth {
            0 => String::new(),
            depth => format!("{}└─ ", "   ".repeat(depth - 1)),
        };
        let origin = step.origin.clone().map(|origin| place(origin, &step.path));
        table.row([
            &format!("{branch}{}", step.name),
            step.type_name.as_str(),
            &origin.unwrap_or_default(),
            step.version.as_deref().unwrap_or_default(),
            &step.path.to_string(),
        ]);
    }
    let inputs = why.steps.iter().filter_map(inputs);
    format!(
        "{}\n\n{}{}",
        text::line(&written),
        table.render(width),
        inputs.collect::<String>()
    )
}

/// The configuration has the name of the deployment, which would not say what it is.
fn place(mut origin: Origin, path: &LayoutPath) -> String {
    if path.top().is_some() {
        origin.file = "configuration".to_owned();
    }
    origin.to_string()
}

/// The inputs of a template, as YAML.
fn inputs(step: &Step) -> Option<String> {
    let properties = step.properties.as_ref()?;
    let is_empty = properties
        .as_object()
        .is_some_and(serde_json::Map::is_empty);
    let shown = (!is_empty).then(|| format::yaml(properties).ok())??;
    let indented = shown
        .lines()
        .map(|line| format!("  {}\n", text::line(line)));
    let indented: String = indented.collect();
    Some(format!(
        "\nInputs of {}:\n{indented}",
        text::line(step.name.as_str())
    ))
}
