//! `dm manifest`: what a deployment was asked to be, and what that expanded to.

use clap::Args;
use common::model::{DeploymentName, ManifestName};

use crate::error::Failure;
use crate::output::{self, Format};
use crate::session::Session;

/// Show a manifest: the configuration as given, as expanded, and its layout. YAML unless -o json.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm manifest web
  dm manifest web MANIFEST -o json")]
pub struct Manifest {
    pub name: DeploymentName,
    /// The latest if absent.
    pub manifest: Option<ManifestName>,
}

impl Manifest {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let manifest = named_or_latest(session, &self.name, self.manifest).await?;
        let manifest = session.client.manifest(&self.name, &manifest).await?;
        let text = match session.format {
            Format::Table | Format::Yaml => output::yaml(&manifest)?,
            Format::Json => output::json(&manifest)?,
        };
        session.print(&text)
    }
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
