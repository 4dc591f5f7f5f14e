//! `dm options`: prints the flags that every command takes.

use clap::{Args, CommandFactory};

use super::Cli;
use crate::client::session::Session;
use crate::error::Failure;

/// Print the flags that every command takes: the manager, the format of results, the identity.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm options")]
pub struct Options {}

impl Options {
    pub fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let page = Cli::command()
            .help_template(
                "Every command takes these flags, before or after its name.\n\n{options}\n",
            )
            .disable_help_subcommand(true)
            .render_help();
        session.print(&page.to_string())
    }
}
