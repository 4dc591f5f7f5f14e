//! `dm completion`: a script with which a shell completes commands, flags, and names that the manager knows.

use clap::Args;
use clap_complete::Shell;

use crate::cli::completion;
use crate::client::session::Session;
use crate::error::Failure;
use crate::terminal::format::OutputError;

/// Print a completion script for a shell: commands, flags, and the manager's deployments, templates and properties.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  source <(dm completion bash)
  dm completion fish > ~/.config/fish/completions/dm.fish")]
pub struct Completion {
    #[arg(value_enum)]
    pub shell: Shell,
}

impl Completion {
    pub fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let Some(script) = completion::script(&self.shell.to_string()) else {
            return Err(Failure::usage(format!(
                "the shell {} is not supported",
                self.shell
            )));
        };
        session.write(&script.map_err(OutputError::from)?)
    }
}
