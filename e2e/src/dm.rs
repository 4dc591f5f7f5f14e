//! The command line, run as a user would.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

use crate::program::path_of;

/// For something to be said: no operation of the tests takes as long.
const PATIENCE: Duration = Duration::from_secs(60);

/// The variable of the OpenTelemetry specification.
const COLLECTOR: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// `dm` against one manager, in one namespace, from one folder.
#[derive(Debug, Clone)]
pub struct Dm {
    service: String,
    folder: PathBuf,
    token: Option<String>,
    kubeconfig: Option<PathBuf>,
    collector: Option<String>,
}

/// A run that has not ended yet.
pub struct Running {
    child: Child,
    stderr: Lines<BufReader<ChildStderr>>,
    said: String,
}

impl Running {
    /// Waits until it has said this on standard error.
    pub async fn says(&mut self, expected: &str) -> Result<()> {
        while let Some(line) = self.line().await? {
            if line.contains(expected) {
                return Ok(());
            }
        }
        bail!("dm ended and never said {expected:?}: {}", self.said)
    }

    /// Waits until it has said this on standard error. Returns the rest of the line.
    pub async fn says_after(&mut self, expected: &str) -> Result<String> {
        while let Some(line) = self.line().await? {
            if let Some((_, rest)) = line.split_once(expected) {
                return Ok(rest.to_owned());
            }
        }
        bail!("dm ended and never said {expected:?}: {}", self.said)
    }

    /// What it prints, from here on. It is not in the end's answer then.
    pub fn prints(&mut self) -> Result<Lines<BufReader<ChildStdout>>> {
        let stdout = self.child.stdout.take().context("it is read already")?;
        Ok(BufReader::new(stdout).lines())
    }

    async fn line(&mut self) -> Result<Option<String>> {
        let line = tokio::time::timeout(PATIENCE, self.stderr.next_line()).await;
        let line = line.with_context(|| format!("dm fell silent after: {}", self.said))??;
        if let Some(line) = &line {
            self.said.push_str(line);
            self.said.push('\n');
        }
        Ok(line)
    }

    /// As Ctrl-C does.
    pub fn interrupt(&self) -> Result<()> {
        let id = self.child.id().context("dm has ended")?;
        kill(Pid::from_raw(i32::try_from(id)?), Signal::SIGINT)?;
        Ok(())
    }

    /// Waits for its end.
    pub async fn ends(mut self) -> Result<Said> {
        while self.line().await?.is_some() {}
        let output = self.child.wait_with_output().await?;
        Ok(Said {
            code: output.status.code().context("dm was killed")?,
            stdout: String::from_utf8(output.stdout)?,
            stderr: self.said,
        })
    }
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
            token: None,
            kubeconfig: None,
            collector: None,
        }
    }

    /// The same at another address of the manager.
    pub fn at(&self, service: String) -> Self {
        Self {
            service,
            ..self.clone()
        }
    }

    /// The same with a token to show to the manager.
    pub fn with_token(&self, token: String) -> Self {
        Self {
            token: Some(token),
            ..self.clone()
        }
    }

    /// The same with a collector that receives its traces.
    pub fn with_collector(&self, collector: String) -> Self {
        Self {
            collector: Some(collector),
            ..self.clone()
        }
    }

    /// The same with a kubeconfig to take the identity from.
    pub fn with_kubeconfig(&self, kubeconfig: &Path) -> Self {
        Self {
            kubeconfig: Some(kubeconfig.to_owned()),
            ..self.clone()
        }
    }

    /// Starts it, to be watched while it runs.
    pub fn start(&self, args: &[&str]) -> Result<Running> {
        let mut child = self
            .command(args)?
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let stderr = child.stderr.take().context("no standard error")?;
        Ok(Running {
            child,
            stderr: BufReader::new(stderr).lines(),
            said: String::new(),
        })
    }

    fn command(&self, args: &[&str]) -> Result<Command> {
        let mut command = Command::new(path_of("dm")?);
        command
            .args(args)
            .env("DM_SERVICE", &self.service)
            // The identity of the user that runs the tests is not used.
            .env("HOME", &self.folder)
            .env_remove("KUBECONFIG")
            .env_remove("DM_TOKEN")
            .envs(self.token.iter().map(|token| ("DM_TOKEN", token)))
            .envs(self.kubeconfig.iter().map(|file| ("KUBECONFIG", file)))
            .envs(self.collector.iter().map(|url| (COLLECTOR, url)))
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        Ok(command)
    }

    /// Runs it to its end.
    pub async fn run(&self, args: &[&str]) -> Result<Said> {
        let output = self.command(args)?.output().await?;
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
