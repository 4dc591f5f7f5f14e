//! `dm registries`: where templates come from.

use clap::Args;

use crate::error::Failure;
use crate::output::table::Table;
use crate::session::Session;

/// List the template registries.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm registries")]
pub struct Registries {}

impl Registries {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let page = session.client.registries().await?;
        let mut table = Table::new(&["NAME", "TYPE", "URL"]);
        for item in &page.items {
            table.row([&item.name, &item.registry_type, &item.url]);
        }
        let width = session.terminal.width;
        session.show(&page, |_| table.render(width))
    }
}
