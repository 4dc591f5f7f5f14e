//! `dm layout`: shows the tree of a deployment.

use clap::Args;
use common::model::DeploymentName;

use super::history::revision::Revision;
use super::manifest::named_or_latest;
use crate::client::render::tree::tree;
use crate::client::session::Session;
use crate::error::Failure;

/// Show the templates and primitives of a deployment as a tree.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm layout web
  dm layout web --paths
  dm layout web 1 -o yaml")]
pub struct Layout {
    /// Name of the deployment.
    pub name: DeploymentName,
    /// Revision or manifest to show [default: the latest].
    #[arg(value_name = "REVISION|MANIFEST")]
    pub manifest: Option<Revision>,
    /// Show the layout path of each resource.
    #[arg(long)]
    pub paths: bool,
}

impl Layout {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let manifest = named_or_latest(session, &self.name, self.manifest).await?;
        let layout = session.client.layout(&self.name, &manifest).await?;
        let width = session.terminal.width;
        session.show(&layout, |layout| tree(layout, self.paths).render(width))
    }
}
