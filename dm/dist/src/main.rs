//! `man-pages FOLDER`: writes the man pages of all programs into `man1` and `man8` below the folder.
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

fn main() -> Result<()> {
    let folder: PathBuf = std::env::args_os()
        .nth(1)
        .context("name the folder for the man pages")?
        .into();
    write(dm::command(), USERS, &folder)?;
    write(manager::Config::command(), ADMINISTRATORS, &folder)?;
    write(expandybird::flags::Cli::command(), ADMINISTRATORS, &folder)?;
    write(
        resourcifier::flags::Flags::command(),
        ADMINISTRATORS,
        &folder,
    )
}

fn write(command: Command, section: &str, folder: &Path) -> Result<()> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let folder = folder.join(format!("man{section}"));
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    write_with_subcommands(&command, section, &folder)
}

fn write_with_subcommands(command: &Command, section: &str, folder: &Path) -> Result<()> {
    for subcommand in command.get_subcommands().filter(|each| !each.is_hide_set()) {
        write_with_subcommands(subcommand, section, folder)?;
    }
    Man::new(command.clone())
        .section(section)
        .manual("Deployment Manager")
        .generate_to(folder)
        .with_context(|| format!("cannot write the page of {}", command.get_name()))?;
    Ok(())
}
