//! The other side: one fresh Python process a request.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

const PACKAGES: [&str; 3] = ["pyyaml", "jinja2", "jsonschema"];

pub struct Instead {
    packages: PathBuf,
}

impl Instead {
    /// With its packages in `target/bench-python`, got once.
    pub fn install() -> Result<Self> {
        let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/bench-python");
        if !packages.join("jsonschema").is_dir() {
            let installed = Command::new("python3")
                .args(["-m", "pip", "install", "--quiet", "--target"])
                .arg(&packages)
                .args(PACKAGES)
                .status()?;
            ensure!(installed.success(), "pip cannot install {PACKAGES:?}");
        }
        Ok(Self { packages })
    }

    /// Expands the request of that body; how many resources come out.
    pub fn expand(&self, body: &[u8]) -> Result<usize> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/expansion/instead.py");
        let mut process = Command::new("python3")
            .arg(script)
            .env("PYTHONPATH", &self.packages)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut input = process.stdin.take().context("no standard input")?;
        input.write_all(body)?;
        drop(input);
        let output = process.wait_with_output()?;
        ensure!(output.status.success(), "the Python side failed");
        let text = String::from_utf8(output.stdout)?;
        Ok(text.matches("\n  type: ").count())
    }
}
