//! A git repository that `git daemon` serves on loopback.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::git_daemon::GitDaemon;

pub struct Repository {
    folder: PathBuf,
    url: String,
    _daemon: GitDaemon,
}

impl Repository {
    /// All that is in a folder, committed to its branch `main` and served for as long as the repository is kept.
    pub async fn serve(folder: &Path) -> Result<Self> {
        let root = folder.parent().context("a folder in no other")?;
        let name = folder.file_name().context("a folder without a name")?;
        let daemon = GitDaemon::serve(root).await?;
        let repository = Self {
            folder: folder.to_owned(),
            url: daemon.url(&name.to_string_lossy()),
            _daemon: daemon,
        };
        repository.git(&["init", "--quiet", "-b", "main"])?;
        repository.commit()?;
        Ok(repository)
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Commits what was added and changed in the folder.
    pub fn commit(&self) -> Result<()> {
        const AUTHOR: [&str; 4] = [
            "-c",
            "user.name=e2e",
            "-c",
            "user.email=e2e@example.invalid",
        ];
        self.git(&["add", "-A"])?;
        self.git(&[&AUTHOR[..], &["commit", "--quiet", "-m", "all"]].concat())
    }

    pub fn git(&self, args: &[&str]) -> Result<()> {
        git(&self.folder, args)
    }
}

/// Runs git in a folder. Housekeeping at a commit would be in the way of the one that is asked for.
pub fn git(folder: &Path, args: &[&str]) -> Result<()> {
    let mut git = Command::new("git");
    let git = git.arg("-C").arg(folder).args(["-c", "gc.auto=0"]);
    let output = git.args(args).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "git {args:?}: {said}");
    Ok(())
}
