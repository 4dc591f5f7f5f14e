//! `dm status`: the live state of a deployment's resources.

use clap::Args;
use common::api::manager::ResourcesQuery;
use common::model::DeploymentName;

use crate::error::Failure;
use crate::output::resources;
use crate::session::Session;

/// Show each resource of a deployment as it is in the cluster now: ready, or why not.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm status web
  dm status web -o json")]
pub struct Status {
    pub name: DeploymentName,
}

impl Status {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let page = session
            .client
            .resources(&self.name, &ResourcesQuery::default())
            .await?;
        let width = session.terminal.width;
        session.show(&page, |page| {
            resources::resources(&page.items).render(width)
        })
    }
}
