//! `dm whoami`: shows the identity of the caller.

use clap::Args;

use crate::client::session::Session;
use crate::error::Failure;
use crate::terminal::text;

/// Show the user and groups that the manager authenticates you as.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm whoami
  DM_TOKEN=$(kubectl create token deployer) dm whoami")]
pub struct Whoami {}

impl Whoami {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let known = session.client.whoami().await?;
        session.show(&known, |known| match known.groups.is_empty() {
            true => format!("{}\n", text::line(&known.user)),
            false => format!(
                "{} ({})\n",
                text::line(&known.user),
                text::line(&known.groups.join(", "))
            ),
        })
    }
}
