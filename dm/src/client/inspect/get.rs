//! `dm get`: shows one deployment, or one part of it.

use clap::{Args, ValueEnum};
use common::api::manager::ResourcesQuery;
use common::model::{Deployment, DeploymentName};
use common::yaml::{self, Duplicates, Limits};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::manifest::{named_or_latest, show};
use super::status::live;
use crate::client::render::resources;
use crate::client::session::Session;
use crate::error::Failure;
use crate::terminal::text;

/// Show a deployment: its state, its resources, its outputs and errors; or only one part of it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm get web
  dm get web -o yaml
  dm get web properties
  dm get web outputs -o json
  dm get web notes")]
pub struct Get {
    /// Name of the deployment.
    pub name: DeploymentName,
    /// The part to show [default: a summary].
    #[arg(value_enum)]
    pub part: Option<Part>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Part {
    /// The properties that its template was given, as YAML.
    #[value(alias = "values")]
    Properties,
    /// The latest manifest, as dm manifest shows it.
    Manifest,
    /// The live resources, as dm status shows them.
    Resources,
    Outputs,
    /// What the template says to its users.
    Notes,
}

impl Get {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        match self.part {
            None => self.summary(session).await,
            Some(Part::Properties) => properties(session, &self.name).await,
            Some(Part::Manifest) => show(session, &self.name, None).await,
            Some(Part::Resources) => live(session, &self.name, None).await,
            Some(Part::Outputs) => {
                let deployment = session.client.deployment(&self.name).await?;
                let width = session.terminal.width;
                session.show(&deployment.outputs, |all| resources::outputs(all, width))
            }
            Some(Part::Notes) => {
                let deployment = session.client.deployment(&self.name).await?;
                let nothing = |_: &_| String::new();
                session.show_with(&deployment.notes, nothing, |notes| {
                    notes_of(&deployment, notes)
                })
            }
        }
    }

    async fn summary(&self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let deployment = session.client.deployment(&self.name).await?;
        session.terminal.warn(&deployment.warnings);
        let width = session.terminal.width;
        session.show(&deployment, |deployment| {
            resources::summary(deployment, Timestamp::now(), width)
        })?;
        if !session.form.is_for_people() {
            return Ok(());
        }
        match session
            .client
            .resources(&self.name, &ResourcesQuery::default())
            .await
        {
            Ok(page) if page.items.is_empty() => Ok(()),
            Ok(page) => {
                let table = resources::resources(&page.items).render(session.terminal.width);
                session.print(&format!("\n{table}"))
            }
            // The deployment is shown. A missing live state is a warning, not a failure.
            Err(error) => {
                session.terminal.note(&format!(
                    "the live state is unknown: {}",
                    text::line(&error.to_string())
                ));
                Ok(())
            }
        }
    }
}

fn notes_of(deployment: &Deployment, notes: &Option<String>) -> String {
    match notes {
        Some(notes) => format!("{}\n", text::lines(notes)),
        None => format!("{} has no notes\n", deployment.name),
    }
}

/// Prints the properties of the configuration's only resource, or those of each resource by its name.
async fn properties(session: &mut Session<'_, '_>, name: &DeploymentName) -> Result<(), Failure> {
    let manifest = named_or_latest(session, name, None).await?;
    let manifest = session.client.manifest(name, &manifest).await?;
    let found = properties_of(&manifest.input_config.content);
    let found = found.ok_or_else(|| {
        Failure::not_found(format!(
            "{name} has no properties: its configuration is Kubernetes objects; see dm manifest {name}"
        ))
    })?;
    session.show_document(&found)
}

fn properties_of(content: &str) -> Option<Value> {
    let read = yaml::read(content, &Limits::DEFAULT, Duplicates::Warn).ok()?;
    let resources = read.value["resources"].as_array()?;
    let of = |resource: &Value| match &resource["properties"] {
        Value::Null => Value::Object(Map::new()),
        properties => properties.clone(),
    };
    if let [only] = resources.as_slice() {
        return Some(of(only));
    }
    let named = resources.iter().filter_map(|resource| {
        let name = resource["name"].as_str()?;
        Some((name.to_owned(), of(resource)))
    });
    Some(named.collect::<Map<_, _>>().into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn properties_are_those_of_the_only_resource_or_by_name() {
        let one = "resources: [{name: web, type: web:v1, properties: {a: 1}}]";
        assert_eq!(properties_of(one), Some(json!({"a": 1})));
        let two =
            "resources: [{name: web, type: web:v1, properties: {a: 1}}, {name: db, type: db:v1}]";
        assert_eq!(properties_of(two), Some(json!({"web": {"a": 1}, "db": {}})));
        assert_eq!(properties_of("apiVersion: v1\nkind: Pod\n"), None);
    }
}
