//! `dm manifest`: shows or compares manifests.

use clap::{Args, Subcommand};
use common::api::manager::ManifestDiff;
use common::model::{DeploymentName, ManifestName, Operation, OperationType};

use super::history::revision::Revision;
use crate::client::render::change;
use crate::client::session::{Session, all_pages};
use crate::error::{ExitCode, Failure};

/// Show a manifest: the given configuration, the expanded configuration, and the layout. Prints YAML unless -o json.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    after_help = "\
Examples:
  dm manifest web
  dm manifest web 1 -o json
  dm manifest diff web 1 2"
)]
pub struct Manifest {
    #[command(subcommand)]
    pub compare: Option<Compare>,
    #[arg(required = true)]
    pub name: Option<DeploymentName>,
    /// Revision or manifest to show [default: the latest].
    #[arg(value_name = "REVISION|MANIFEST")]
    pub manifest: Option<Revision>,
}

#[derive(Debug, Subcommand)]
pub enum Compare {
    Diff(Diff),
}

/// Compare two manifests of a deployment: what the second one changes.
///
/// The command compares the expanded configurations, and does not ask the cluster. To compare with the cluster, use dm diff.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm manifest diff web                   # the latest with the one before
  dm manifest diff web 1                 # the latest with this one
  dm manifest diff web 1 2

Exit codes: 0 no differences, 1 differences, 2 failed or wrong usage, otherwise as for other commands.")]
pub struct Diff {
    /// Name of the deployment.
    pub name: DeploymentName,
    /// Revision or manifest to compare from [default: the previous deployed one].
    pub from: Option<Revision>,
    /// Revision or manifest to compare with [default: the latest].
    pub to: Option<Revision>,
}

impl Manifest {
    pub fn compares(&self) -> bool {
        self.compare.is_some()
    }

    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<ExitCode, Failure> {
        match (self.compare, self.name) {
            (Some(Compare::Diff(diff)), _) => diff.run(session).await,
            (None, Some(name)) => {
                show(session, &name, self.manifest).await?;
                Ok(ExitCode::Done)
            }
            (None, None) => Err(Failure::usage(
                "no deployment is given; write dm manifest NAME".to_owned(),
            )),
        }
    }
}

/// Prints a manifest, or the latest.
pub async fn show(
    session: &mut Session<'_, '_>,
    name: &DeploymentName,
    manifest: Option<Revision>,
) -> Result<(), Failure> {
    let manifest = named_or_latest(session, name, manifest).await?;
    let manifest = session.client.manifest(name, &manifest).await?;
    session.show_document(&manifest)
}

impl Diff {
    async fn run(self, session: &mut Session<'_, '_>) -> Result<ExitCode, Failure> {
        let from = match self.from {
            Some(from) => from.manifest(session, &self.name).await?,
            None => before(session, &self.name).await?,
        };
        let to = named_or_latest(session, &self.name, self.to).await?;
        let client = &session.client;
        let diff = client.manifest_diff(&self.name, &from, &to).await?;
        let colours = session.terminal.colours;
        session.show(&diff, |diff| render(diff, colours))?;
        Ok(match diff.summary.is_change() {
            true => ExitCode::Failed,
            false => ExitCode::Done,
        })
    }
}

fn render(diff: &ManifestDiff, colours: bool) -> String {
    let changes = change::resources(&diff.resources, colours);
    let note = match (diff.summary.is_change(), diff.same_input) {
        (false, false) => "\nthe configurations differ, but expand to the same objects",
        _ => "",
    };
    format!(
        "{changes}{}: from {} to {}{note}\n",
        change::summary(&diff.summary),
        diff.from,
        diff.to
    )
}

/// The given manifest, or the latest.
pub async fn named_or_latest(
    session: &Session<'_, '_>,
    deployment: &DeploymentName,
    named: Option<Revision>,
) -> Result<ManifestName, Failure> {
    if let Some(named) = named {
        return named.manifest(session, deployment).await;
    }
    let latest = session.client.deployment(deployment).await?.latest_manifest;
    latest.ok_or_else(|| {
        Failure::not_found(format!(
            "{deployment} has no manifest yet; see dm get {deployment}"
        ))
    })
}

/// The previous deployed manifest. If the latest manifest failed, it is the last one that did not.
pub async fn before(
    session: &Session<'_, '_>,
    name: &DeploymentName,
) -> Result<ManifestName, Failure> {
    let deployment = session.client.deployment(name).await?;
    let latest = deployment.latest_manifest;
    if deployment.deployed_manifest.is_some() && deployment.deployed_manifest != latest {
        return deployment.deployed_manifest.ok_or_else(|| none(name));
    }
    let client = &session.client;
    let operations =
        all_pages(|page| async move { client.operations(Some(name), &page).await }).await?;
    let earlier = operations
        .items
        .into_iter()
        .filter(is_deployed)
        .filter_map(|operation| operation.manifest)
        .find(|manifest| Some(manifest) != latest.as_ref());
    earlier.ok_or_else(|| none(name))
}

/// Whether the operation applied a whole manifest.
fn is_deployed(operation: &Operation) -> bool {
    let applies = match operation.operation_type {
        OperationType::Create
        | OperationType::Update
        | OperationType::Rollback
        | OperationType::Correct => true,
        OperationType::Preview | OperationType::Delete | OperationType::Test => false,
    };
    applies && operation.error.is_none() && operation.end_time.is_some()
}

fn none(name: &DeploymentName) -> Failure {
    Failure::not_found(format!(
        "{name} has no previous deployed manifest; dm history {name} lists what was applied"
    ))
}
