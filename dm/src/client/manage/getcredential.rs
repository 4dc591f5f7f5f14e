//! `dm getcredential`: shows credentials, without their secrets.

use clap::Args;
use common::api::manager::CredentialSummary;
use common::api::page::Page;
use common::model::CredentialName;

use crate::client::session::{Session, all_pages};
use crate::error::Failure;
use crate::terminal::table::Table;

/// Show a registry's credential, or all credentials; secrets are never shown.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm getcredential
  dm getcredential shop-token")]
pub struct GetCredential {
    /// Name of the credential [default: all credentials].
    pub name: Option<CredentialName>,
}

impl GetCredential {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        if let Some(name) = &self.name {
            return show(&session.client.credential(name).await?, session);
        }
        let client = &session.client;
        let page = all_pages(|page| async move { client.credentials(&page).await }).await?;
        let width = session.terminal.width;
        session.show(&page, |page: &Page<_>| table(&page.items).render(width))
    }
}

pub fn show(credential: &CredentialSummary, session: &mut Session<'_, '_>) -> Result<(), Failure> {
    let width = session.terminal.width;
    session.show(credential, |credential| {
        table(std::slice::from_ref(credential)).render(width)
    })
}

fn table(credentials: &[CredentialSummary]) -> Table {
    let mut table = Table::new(&["NAME", "TYPE", "USERNAME", "SET"]);
    for credential in credentials {
        table.row([
            credential.name.as_str(),
            credential.credential_type.as_str(),
            credential.username.as_deref().unwrap_or_default(),
            &credential.modified_at.to_string(),
        ]);
    }
    table
}
