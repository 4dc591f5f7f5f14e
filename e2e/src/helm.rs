//! The real Helm, built from its own module once, and run as a user would.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::go;
use crate::program::checkout;

const PROGRAM: &str = "helm.sh/helm/v4/cmd/helm";

pub struct Helm {
    program: PathBuf,
    /// For its own settings, and for the plugins of its user, of which there are none.
    home: PathBuf,
    kubeconfig: PathBuf,
}

impl Helm {
    /// Builds it. Go keeps what it built before.
    pub fn build(home: &Path, kubeconfig: &Path) -> Result<Self> {
        let program = checkout().join("target/helm");
        let status = go::command(&checkout().join("e2e/helm"))
            .args(["build", "-ldflags", "-s -w", "-o"])
            .args([&program, Path::new(PROGRAM)])
            .status()
            .context("go cannot be run; install Go 1.26")?;
        ensure!(status.success(), "go cannot build {PROGRAM}");
        Ok(Self {
            program,
            home: home.to_owned(),
            kubeconfig: kubeconfig.to_owned(),
        })
    }

    /// Runs it and expects success. Returns what it prints.
    pub fn ok(&self, args: &[&str]) -> Result<String> {
        let output = Command::new(&self.program)
            .args(args)
            .env("HOME", &self.home)
            .env("KUBECONFIG", &self.kubeconfig)
            .current_dir(&self.home)
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "helm {}: {said}", args.join(" "));
        Ok(String::from_utf8(output.stdout)?)
    }
}
