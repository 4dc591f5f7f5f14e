//! `dm operations`: lists running and finished operations.

use clap::Args;
use common::model::DeploymentName;
use jiff::Timestamp;

use crate::client::render::resources;
use crate::client::session::{Session, all_pages};
use crate::error::Failure;

/// List the operations of a deployment, or of all deployments.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm operations
  dm operations web")]
pub struct Operations {
    /// Name of the deployment [default: all deployments].
    pub name: Option<DeploymentName>,
}

impl Operations {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let (client, name) = (session.client.clone(), self.name);
        let page = all_pages(|page| {
            let (client, name) = (&client, name.as_ref());
            async move { client.operations(name, &page).await }
        })
        .await?;
        let width = session.terminal.width;
        session.show(&page, |page| {
            resources::operations(&page.items, Timestamp::now()).render(width)
        })
    }
}
