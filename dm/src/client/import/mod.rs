//! What other tools have installed becomes deployments.

mod chart;
mod helm_release;
mod release;

use clap::{Args, Subcommand};

use crate::client::session::Session;
use crate::error::Failure;

/// Make a deployment of what another tool has installed.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "\
Examples:
  dm import helm-release web -n shop --dry-run   # show what would change
  dm import helm-release web -n shop
  dm import helm-release web -n shop --chart oci://ghcr.io/org/web:1.2.3 --forget-release"
)]
pub struct Import {
    #[command(subcommand)]
    pub what: What,
}

#[derive(Debug, Subcommand)]
pub enum What {
    HelmRelease(Box<helm_release::HelmRelease>),
}

impl Import {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        match self.what {
            What::HelmRelease(release) => release.run(session).await,
        }
    }
}
