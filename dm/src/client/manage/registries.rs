//! `dm registries`: lists the template registries.

use clap::Args;
use common::api::manager::RegistrySummary;
use common::model::{CredentialName, RegistryDefinition};

use crate::client::session::{Session, all_pages};
use crate::error::Failure;
use crate::terminal::table::Table;

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
    let mut table = Table::new(&["NAME", "TYPE", "URL", "DETAILS"]);
    for RegistrySummary { name, definition } in registries {
        let kind = definition.registry_type.as_str();
        table.row([name, kind, &definition.url, &details(definition)]);
    }
    table
}

/// Settings that only some registries have.
fn details(definition: &RegistryDefinition) -> String {
    let named = [
        ("ref", definition.reference.as_deref()),
        ("collection", definition.collection.as_deref()),
        (
            "credential",
            definition.credential.as_ref().map(CredentialName::as_str),
        ),
        ("API", definition.api_url.as_deref()),
    ];
    let named = named
        .into_iter()
        .filter_map(|(what, name)| Some(format!("{what} {}", name?)));
    let signed = (!definition.public_keys.is_empty()).then(|| "signed templates only".to_owned());
    named.chain(signed).collect::<Vec<_>>().join(", ")
}
