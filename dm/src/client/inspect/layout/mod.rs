//! `dm layout`: shows the tree of a deployment, or why an object is in it.

mod object;
#[cfg(test)]
mod tests;
mod why;

use clap::Args;
use common::model::DeploymentName;
use jiff::Timestamp;

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
  dm layout web 1 -o yaml
  dm layout web --why Deployment/web-pods")]
pub struct Layout {
    /// Name of the deployment.
    pub name: DeploymentName,
    /// Revision or manifest to show [default: the latest].
    #[arg(value_name = "REVISION|MANIFEST")]
    pub manifest: Option<Revision>,
    /// Show the layout path of each resource.
    #[arg(long)]
    pub paths: bool,
    /// Show why the deployment has an object: the files and lines that wrote it, the inputs, and who applied it when. The object
    /// is a name, KIND/NAME, or a layout path.
    #[arg(long, value_name = "OBJECT", conflicts_with = "paths")]
    pub why: Option<String>,
}

impl Layout {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let manifest = named_or_latest(session, &self.name, self.manifest).await?;
        let width = session.terminal.width;
        if let Some(object) = &self.why {
            let why = why::why(session, &self.name, &manifest, object).await?;
            return session.show(&why, |why| why::render(why, Timestamp::now(), width));
        }
        let layout = session.client.layout(&self.name, &manifest).await?;
        session.show(&layout, |layout| tree(layout, self.paths).render(width))
    }
}
