//! `man-pages FOLDER DATE`: writes the man pages of all programs into `man1` and `man8` below the folder.
//!
//! A program of its own, so that the released programs carry nothing that writes man pages.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Command, CommandFactory};
use clap_mangen::Man;

/// Commands that users run, and services that administrators run (man(1)).
const USERS: &str = "1";
const ADMINISTRATORS: &str = "8";

/// What all pages have in common.
struct Pages {
    folder: PathBuf,
    /// Of the release, like `2026-11-22`.
    date: String,
}

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let pages = Pages {
        folder: args
            .next()
            .context("name the folder for the man pages")?
            .into(),
        date: args.next().context("give the date of the release")?,
    };
    pages.write(dm::command(), USERS)?;
    pages.write(manager::Config::command(), ADMINISTRATORS)?;
    pages.write(expandybird::flags::Cli::command(), ADMINISTRATORS)?;
    pages.write(resourcifier::flags::Flags::command(), ADMINISTRATORS)
}

impl Pages {
    fn write(&self, command: Command, section: &str) -> Result<()> {
        let mut command = command.disable_help_subcommand(true);
        command.build();
        let folder = self.folder.join(format!("man{section}"));
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        self.write_with_subcommands(&command, section, &folder)
    }

    fn write_with_subcommands(
        &self,
        command: &Command,
        section: &str,
        folder: &Path,
    ) -> Result<()> {
        for subcommand in command.get_subcommands().filter(|each| !each.is_hide_set()) {
            self.write_with_subcommands(subcommand, section, folder)?;
        }
        Man::new(command.clone())
            .section(section)
            .date(&self.date)
            .source(concat!("Deployment Manager ", env!("CARGO_PKG_VERSION")))
            .manual("Deployment Manager")
            .generate_to(folder)
            .with_context(|| format!("cannot write the page of {}", command.get_name()))?;
        Ok(())
    }
}
