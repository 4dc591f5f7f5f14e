//! The other side: the real Helm, one process a render.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

#[path = "../../../../e2e/src/go.rs"]
mod go;

const PROGRAM: &str = "helm.sh/helm/v4/cmd/helm";

pub struct Helm {
    program: PathBuf,
    home: tempfile::TempDir,
}

impl Helm {
    /// Built from its own module. Go keeps what it built before.
    pub fn build() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let program = root.join("target/helm");
        let status = go::command(&root.join("e2e/helm"))
            .args(["build", "-ldflags", "-s -w", "-o"])
            .args([&std::path::absolute(&program)?, Path::new(PROGRAM)])
            .status()?;
        ensure!(status.success(), "Go cannot build {PROGRAM}");
        Ok(Self {
            program,
            home: tempfile::tempdir()?,
        })
    }

    /// Renders a folder. Returns how many objects there are.
    pub fn objects(&self, chart: &Path) -> Result<usize> {
        let output = Command::new(&self.program)
            .args(["template", "bench"])
            .arg(chart)
            .env("HOME", self.home.path())
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "helm template: {said}");
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text
            .lines()
            .filter(|line| line.starts_with("kind: "))
            .count())
    }
}
