//! `dm registries`: where templates come from.

use clap::Args;
use common::api::manager::RegistrySummary;

use crate::error::Failure;
use crate::output::table::Table;
use crate::session::{Session, all_pages};

/// List the template registries.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm registries")]
pub struct Registries {}

impl Registries {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let client = &session.client;
        let page = all_pages(|page| async move { client.registries(&page).await }).await?;
        let width = session.terminal.width;
        session.show(&page, |page| table(&page.items).render(width))
    }
}

pub fn table(registries: &[RegistrySummary]) -> Table {
    let mut table = Table::new(&["NAME", "TYPE", "URL", "COLLECTION", "CREDENTIAL"]);
    for RegistrySummary { name, definition } in registries {
        let credential = definition.credential.as_ref();
        table.row([
            name,
            definition.registry_type.as_str(),
            &definition.url,
            definition.collection.as_deref().unwrap_or_default(),
            credential.map_or("", |name| name.as_str()),
        ]);
    }
    table
}
