//! `dm version`: prints the version of this program.

use clap::Args;
use serde_json::{Value, json};

use crate::client::session::Session;
use crate::error::Failure;

/// Print the version of dm.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm version")]
pub struct Version {}

impl Version {
    pub fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let version: Value = json!({"version": env!("CARGO_PKG_VERSION")});
        session.show(&version, |_| format!("dm {}\n", env!("CARGO_PKG_VERSION")))
    }
}
