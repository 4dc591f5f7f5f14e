//! `dm ui`: opens the page of the manager in a browser.

use std::process::Stdio;

use clap::Args;
use tokio::process::Command;

use crate::client::session::Session;
use crate::error::Failure;

/// Programs that open an address in the browser of the desktop.
const OPENERS: [&str; 3] = ["xdg-open", "open", "wslview"];

/// Open the manager's page in a browser, and print its address.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm ui
  dm ui --print")]
pub struct Ui {
    /// Only print the address.
    #[arg(long)]
    pub print: bool,
}

impl Ui {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let address = session.client.page();
        if !self.print {
            open(&address).await;
        }
        session.print(&format!("{address}\n"))
    }
}

/// Opens the address with the first program that does. On a machine without a desktop there is none: the printed address
/// is enough there.
async fn open(address: &str) {
    for opener in OPENERS {
        let mut command = Command::new(opener);
        command
            .arg(address)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if command.status().await.is_ok_and(|status| status.success()) {
            return;
        }
    }
}
