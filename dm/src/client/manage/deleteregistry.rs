//! `dm deleteregistry`: removes a registered registry.

use clap::Args;
use common::model::RegistryName;

use super::registries;
use crate::client::session::Session;
use crate::error::Failure;

/// Remove a registered registry; deployments from it stay.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm deleteregistry shop")]
pub struct DeleteRegistry {
    /// Name of the registry.
    pub name: RegistryName,
}

impl DeleteRegistry {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let removed = session.client.delete_registry(&self.name).await?;
        let width = session.terminal.width;
        session.show(&removed, |removed| {
            registries::table(std::slice::from_ref(removed)).render(width)
        })
    }
}
