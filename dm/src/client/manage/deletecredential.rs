//! `dm deletecredential`: deletes a registry's credential.

use clap::Args;
use common::model::CredentialName;

use super::getcredential;
use crate::client::session::Session;
use crate::error::Failure;

/// Delete a credential that no registry uses.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm deletecredential shop-token")]
pub struct DeleteCredential {
    /// Name of the credential.
    pub name: CredentialName,
}

impl DeleteCredential {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let removed = session.client.delete_credential(&self.name).await?;
        getcredential::show(&removed, session)
    }
}
