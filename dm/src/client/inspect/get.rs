//! `dm get`: shows one deployment.

use clap::Args;
use common::api::manager::ResourcesQuery;
use common::model::DeploymentName;
use jiff::Timestamp;

use crate::client::render::resources;
use crate::client::session::Session;
use crate::error::Failure;
use crate::terminal::format::Format;
use crate::terminal::text;

/// Show a deployment: its state, its resources, its outputs and errors.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm get web
  dm get web -o yaml")]
pub struct Get {
    /// Name of the deployment.
    pub name: DeploymentName,
}

impl Get {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let deployment = session.client.deployment(&self.name).await?;
        session.show(&deployment, |deployment| {
            resources::summary(deployment, Timestamp::now())
        })?;
        if session.format != Format::Table {
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
