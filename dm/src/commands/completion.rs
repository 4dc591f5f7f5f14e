//! `dm completion`: a script that teaches a shell the commands and flags.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::error::Failure;
use crate::session::Session;

/// Print a completion script for a shell.
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
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "dm", &mut script);
        session.print(&String::from_utf8_lossy(&script))
    }
}
