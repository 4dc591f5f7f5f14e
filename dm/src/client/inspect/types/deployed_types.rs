//! `dm deployed-types`: lists the types in use.

use clap::Args;

use crate::client::session::{Session, all_pages};
use crate::error::Failure;
use crate::terminal::table::Table;

/// List the types that active deployments use.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm deployed-types")]
pub struct DeployedTypes {}

impl DeployedTypes {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let client = session.client.clone();
        let page = all_pages(|page| {
            let client = &client;
            async move { client.types(&page).await }
        })
        .await?;
        let mut table = Table::new(&["TYPE", "INSTANCES"]);
        for item in &page.items {
            table.row([item.name.as_str(), &item.instances.to_string()]);
        }
        let width = session.terminal.width;
        session.show(&page, |_| table.render(width))
    }
}
