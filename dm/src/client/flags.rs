//! The flags that every command takes.

use std::time::Duration;

use crate::terminal::format::Format;

/// Taken before and after the command.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub struct Flags {
    /// Where the manager listens.
    #[arg(
        long,
        global = true,
        value_name = "URL",
        env = "DM_SERVICE",
        default_value = "http://127.0.0.1:8080"
    )]
    pub service: String,
    /// How results are written.
    #[arg(short, long, global = true, value_enum, default_value_t = Format::Table)]
    pub output: Format,
    /// Time for all of it, like 90s or 5m; for writes the manager's default if absent.
    #[arg(long, global = true, value_name = "DURATION", value_parser = super::duration::parse)]
    pub timeout: Option<Duration>,
    #[command(flatten)]
    pub identity: super::identity::IdentityFlags,
}
