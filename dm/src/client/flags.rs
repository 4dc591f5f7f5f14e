//! The flags that every command takes.

use std::time::Duration;

use crate::terminal::format::Format;

/// They may stand before and after the command.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub struct Flags {
    /// URL of the manager.
    #[arg(
        long,
        global = true,
        value_name = "URL",
        env = "DM_SERVICE",
        default_value = "http://127.0.0.1:8080"
    )]
    pub service: String,
    /// Format of results.
    #[arg(short, long, global = true, value_enum, default_value_t = Format::Table)]
    pub output: Format,
    /// Time limit for the whole command, like 90s or 5m [default for writes: the manager's].
    #[arg(long, global = true, value_name = "DURATION", value_parser = super::duration::parse)]
    pub timeout: Option<Duration>,
    #[command(flatten)]
    pub identity: super::identity::IdentityFlags,
}
