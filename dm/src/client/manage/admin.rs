//! `dm admin`: backs up, restores, verifies and upgrades the manager's store, and rotates its key.

use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;

use clap::{Args, Subcommand};
use common::api::admin::{Formats, Restored, Rotated, Verification};
use futures::TryStreamExt;
use tokio::fs::File;
use tokio::io::AsyncWriteExt;
use tokio_util::io::ReaderStream;

use crate::client::session::Session;
use crate::error::Failure;
use crate::terminal::table::Table;
use crate::terminal::text;

/// Maintain the manager's store: back it up, restore it, verify it, rotate its key, upgrade it.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "\
Examples:
  dm admin backup store.backup
  dm admin restore store.backup      # into a manager with an empty store
  dm admin verify
  dm admin rotate
  dm admin upgrade --dry-run"
)]
pub struct Admin {
    #[command(subcommand)]
    pub task: Task,
}

#[derive(Debug, Subcommand)]
pub enum Task {
    /// Write the whole store of the manager to a file. The manager keeps working.
    #[command(after_help = "\
Examples:
  dm admin backup store-2026-11-23.jsonl
  dm admin backup - | zstd > store.backup.zst")]
    Backup {
        /// File to create, which must not exist yet; - is standard output.
        file: PathBuf,
    },
    /// Fill the empty store of a manager from a backup.
    #[command(after_help = "\
Examples:
  dm admin restore store.backup --service http://127.0.0.1:8080")]
    Restore {
        /// File that dm admin backup wrote.
        file: PathBuf,
    },
    /// Read the whole store of the manager, and report every problem.
    #[command(after_help = "\
Examples:
  dm admin verify
  dm admin verify -o json")]
    Verify,
    /// Create a new key for the manager's store, and encrypt the whole store with it. The manager keeps working.
    ///
    /// The new key becomes the first line of the manager's key file (--credential-key). If the manager cannot write that file, add
    /// a new first line yourself: the manager then uses it.
    ///
    /// Several managers on etcd need the new key in the key file of each of them. Until then, the command is refused and names those
    /// without it. Copy the file, and run the command again.
    #[command(after_help = "\
Examples:
  dm admin rotate")]
    Rotate,
    /// Put the newest format of the manager's store in force, after all managers are upgraded.
    ///
    /// A newer manager writes what the previous release can read. This command ends that: older managers refuse the store from then
    /// on. It is refused while an older manager runs on the same store.
    #[command(after_help = "\
Examples:
  dm admin upgrade --dry-run
  dm admin upgrade")]
    Upgrade {
        /// Only show the formats, and the managers that use the store.
        #[arg(long)]
        dry_run: bool,
    },
}

impl Admin {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        match self.task {
            Task::Backup { file } if file.as_os_str() == "-" => to_standard_output(session).await,
            Task::Backup { file } => backup(session, &file).await,
            Task::Restore { file } => restore(session, &file).await,
            Task::Verify => verify(session).await,
            Task::Rotate => rotate(session).await,
            Task::Upgrade { dry_run: true } => formats(session).await,
            Task::Upgrade { dry_run: false } => upgrade(session).await,
        }
    }
}

async fn to_standard_output(session: &mut Session<'_, '_>) -> Result<(), Failure> {
    let mut archive = pin!(session.client.backup().await?);
    while let Some(bytes) = archive.try_next().await? {
        session.write(&bytes)?;
    }
    Ok(())
}

/// The file gets its name only when it is complete.
async fn backup(session: &mut Session<'_, '_>, path: &Path) -> Result<(), Failure> {
    let failed = |error| unusable(path, error);
    if path.try_exists().map_err(failed)? {
        let sentence = format!("{} exists; name another file", path.display());
        return Err(Failure::failed(sentence));
    }
    let mut partial = path.as_os_str().to_owned();
    partial.push(".part");
    let partial = PathBuf::from(partial);
    let written = download(session, &partial).await;
    if let Err(failure) = written {
        // If it cannot be removed, its name shows what it is.
        let _ = tokio::fs::remove_file(&partial).await;
        return Err(failure);
    }
    tokio::fs::rename(&partial, path).await.map_err(failed)?;
    let size = written.unwrap_or_default();
    session.print(&format!(
        "the store is backed up to {}: {size} bytes\n",
        path.display()
    ))
}

async fn download(session: &Session<'_, '_>, path: &Path) -> Result<u64, Failure> {
    let failed = |error| unusable(path, error);
    let mut archive = pin!(session.client.backup().await?);
    let mut file = File::create(path).await.map_err(failed)?;
    let mut size = 0;
    while let Some(bytes) = archive.try_next().await? {
        file.write_all(&bytes).await.map_err(failed)?;
        size += bytes.len() as u64;
    }
    file.sync_all().await.map_err(failed)?;
    Ok(size)
}

async fn restore(session: &mut Session<'_, '_>, path: &Path) -> Result<(), Failure> {
    let file = File::open(path)
        .await
        .map_err(|error| unusable(path, error))?;
    let restored = session.client.restore(ReaderStream::new(file)).await?;
    session.show(&restored, |Restored { entries, resumed }| {
        format!("{entries} entries are restored; {resumed} unfinished operations continue\n")
    })
}

async fn verify(session: &mut Session<'_, '_>) -> Result<(), Failure> {
    let verification = session.client.verify().await?;
    session.show(&verification, render)?;
    match verification.ok {
        true => Ok(()),
        false => Err(Failure::failed(
            "the store is damaged; see the problems above, and restore it from a backup",
        )),
    }
}

async fn rotate(session: &mut Session<'_, '_>) -> Result<(), Failure> {
    let rotated = session.client.rotate().await?;
    session.show(&rotated, |Rotated { key, entries }| {
        format!(
            "everything is sealed with key {key}; {entries} entries changed. The store now needs only the first line of the key file: keep the other lines with older backups\n"
        )
    })
}

async fn formats(session: &mut Session<'_, '_>) -> Result<(), Failure> {
    let formats = session.client.formats().await?;
    session.show(&formats, |formats| managers(formats) + &possible(formats))
}

async fn upgrade(session: &mut Session<'_, '_>) -> Result<(), Failure> {
    let formats = session.client.upgrade_store().await?;
    session.show(&formats, |Formats { in_force, .. }| {
        format!(
            "the store has format {in_force}; managers that do not read this format refuse it\n"
        )
    })
}

/// A table, if the store knows its managers.
fn managers(formats: &Formats) -> String {
    if formats.managers.is_empty() {
        return String::new();
    }
    let mut managers = Table::new(&["MANAGER", "VERSION", "READS FORMAT"]);
    for manager in &formats.managers {
        let reads = format!("up to {}", manager.reads);
        managers.row([&manager.name, &manager.version, &reads]);
    }
    managers.render(None)
}

fn possible(formats: &Formats) -> String {
    let Formats {
        in_force, newest, ..
    } = formats;
    let mut managers = formats.managers.iter();
    let behind = managers.any(|manager| manager.reads < *newest);
    match (in_force == newest, behind) {
        (true, _) => format!("the store has format {in_force}, the newest one of this manager\n"),
        (false, false) => format!(
            "the store has format {in_force}; dm admin upgrade puts format {newest} in force\n"
        ),
        (false, true) => format!(
            "the store has format {in_force}; replace the managers that do not read format {newest}, then run dm admin upgrade\n"
        ),
    }
}

fn render(verification: &Verification) -> String {
    let mut checked = Table::new(&["CHECKED", "COUNT"]);
    for (what, count) in &verification.checked {
        checked.row([what, &count.to_string()]);
    }
    for (key, count) in &verification.keys {
        checked.row([&format!("sealed with {key}"), &count.to_string()]);
    }
    let mut shown = checked.render(None);
    for problem in &verification.problems {
        let problem = format!("{}: {}", problem.key, problem.message);
        shown.push_str(&format!("problem: {}\n", text::line(&problem)));
    }
    if verification.further > 0 {
        shown.push_str(&format!("… and {} more\n", verification.further));
    }
    if verification.ok {
        shown.push_str("no problems found\n");
    }
    shown
}

fn unusable(path: &Path, error: io::Error) -> Failure {
    Failure::failed(format!("{} cannot be used: {error}", path.display()))
}
