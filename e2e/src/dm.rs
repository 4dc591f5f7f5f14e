//! The command line, run as a user would.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result};
use serde_json::Value;
use tokio::process::Command;

use crate::program::path_of;

/// `dm` against one manager, in one namespace, from one folder.
#[derive(Debug, Clone)]
pub struct Dm {
    service: String,
    folder: PathBuf,
}

/// What a run said, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Dm {
    pub fn new(service: String, folder: &Path) -> Self {
        Self {
            service,
            folder: folder.to_owned(),
        }
    }

    /// The same at another address of the manager.
    pub fn at(&self, service: String) -> Self {
        Self::new(service, &self.folder)
    }

    /// Runs it to its end.
    pub async fn run(&self, args: &[&str]) -> Result<Said> {
        let output = Command::new(path_of("dm")?)
            .args(args)
            .env("DM_SERVICE", &self.service)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await?;
        Ok(Said {
            code: output.status.code().context("dm was killed")?,
            stdout: String::from_utf8(output.stdout)?,
            stderr: String::from_utf8(output.stderr)?,
        })
    }

    /// Runs it and expects success.
    pub async fn ok(&self, args: &[&str]) -> Result<String> {
        let said = self.run(args).await?;
        anyhow::ensure!(
            said.code == 0,
            "dm {} ended with {}: {}{}",
            args.join(" "),
            said.code,
            said.stdout,
            said.stderr
        );
        Ok(said.stdout)
    }

    /// Runs it with `-o json`, expects success, and decodes the result.
    pub async fn json(&self, args: &[&str]) -> Result<Value> {
        let text = self.ok(&[args, &["-o", "json"]].concat()).await?;
        serde_json::from_str(&text)
            .with_context(|| format!("dm {} printed {text:?}", args.join(" ")))
    }

    /// Runs it and expects a failure with this exit code; gives what stderr said.
    pub async fn fails(&self, code: i32, args: &[&str]) -> Result<String> {
        let said = self.run(args).await?;
        anyhow::ensure!(
            said.code == code,
            "dm {} ended with {} and not {code}: {}{}",
            args.join(" "),
            said.code,
            said.stdout,
            said.stderr
        );
        Ok(said.stderr)
    }
}
