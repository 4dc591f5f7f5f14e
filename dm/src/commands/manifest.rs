//! `dm manifest`: what a deployment was asked to be, and what that expanded to.

use clap::{Args, Subcommand};
use common::api::manager::ManifestDiff;
use common::model::{DeploymentName, ManifestName};

use super::rollback::before;
use crate::error::{ExitCode, Failure};
use crate::output::{self, Format, change};
use crate::session::Session;

/// Show a manifest: the configuration as given, as expanded, and its layout. YAML unless -o json.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    after_help = "\
Examples:
  dm manifest web
  dm manifest web MANIFEST -o json
  dm manifest diff web MANIFEST OTHER"
)]
pub struct Manifest {
    #[command(subcommand)]
    pub compare: Option<Compare>,
    #[arg(required = true)]
    pub name: Option<DeploymentName>,
    /// The latest if absent.
    pub manifest: Option<ManifestName>,
}

#[derive(Debug, Subcommand)]
pub enum Compare {
    Diff(Diff),
}

/// Compare two manifests of a deployment: what the later one asks for that the earlier one did not.
///
/// Compares what the configurations expanded to, without looking at the cluster: see dm diff for that.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm manifest diff web                   # the latest with the one before
  dm manifest diff web MANIFEST          # the latest with this one
  dm manifest diff web MANIFEST OTHER

Exit codes: 0 no difference, 1 differences, above 1 trouble: 2 where other commands end with 1 or 2, else as they do.")]
pub struct Diff {
    pub name: DeploymentName,
    /// The one that was deployed before the latest if absent.
    pub from: Option<ManifestName>,
    /// The latest if absent.
    pub to: Option<ManifestName>,
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
            (None, None) => Err(Failure::Usage(
                "which deployment? dm manifest NAME".to_owned(),
            )),
        }
    }
}

async fn show(
    session: &mut Session<'_, '_>,
    name: &DeploymentName,
    manifest: Option<ManifestName>,
) -> Result<(), Failure> {
    let manifest = named_or_latest(session, name, manifest).await?;
    let manifest = session.client.manifest(name, &manifest).await?;
    let text = match session.format {
        Format::Table | Format::Yaml | Format::Dot => output::yaml(&manifest)?,
        Format::Json => output::json(&manifest)?,
    };
    session.print(&text)
}

impl Diff {
    async fn run(self, session: &mut Session<'_, '_>) -> Result<ExitCode, Failure> {
        let from = match self.from {
            Some(from) => from,
            None => before(session, &self.name).await?,
        };
        let to = named_or_latest(session, &self.name, self.to).await?;
        let client = &session.client;
        let diff = client.manifest_diff(&self.name, &from, &to).await?;
        let colours = session.terminal.colours;
        session.show(&diff, |diff| told(diff, colours))?;
        Ok(match diff.summary.is_change() {
            true => ExitCode::Failed,
            false => ExitCode::Done,
        })
    }
}

fn told(diff: &ManifestDiff, colours: bool) -> String {
    let changes = change::resources(&diff.resources, colours);
    let note = match (diff.summary.is_change(), diff.same_input) {
        (false, false) => "\nthe configurations differ, but come to the same",
        _ => "",
    };
    format!(
        "{changes}{}: from {} to {}{note}\n",
        change::summary(&diff.summary),
        diff.from,
        diff.to
    )
}

/// The manifest that was named, or the latest.
pub async fn named_or_latest(
    session: &Session<'_, '_>,
    deployment: &DeploymentName,
    named: Option<ManifestName>,
) -> Result<ManifestName, Failure> {
    if let Some(named) = named {
        return Ok(named);
    }
    let latest = session.client.deployment(deployment).await?.latest_manifest;
    latest.ok_or_else(|| {
        Failure::Missing(format!(
            "{deployment} has no manifest yet; see dm get {deployment}"
        ))
    })
}
