//! A real OCI registry on loopback, open to everybody: Debian's `docker-registry`.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use tempfile::TempDir;

/// Ends with the test.
pub struct Hub {
    host: String,
    process: Child,
    _folder: TempDir,
}

impl Hub {
    pub fn start() -> Result<Self> {
        let folder = TempDir::new()?;
        let at = folder.path().display();
        let config = format!(
            "version: 0.1\nlog: {{level: info}}\nstorage: {{filesystem: {{rootdirectory: {at}/store}}}}\n\
             http: {{addr: '127.0.0.1:0'}}\n"
        );
        let file = folder.path().join("config.yml");
        std::fs::write(&file, config)?;
        let mut process = Command::new("docker-registry")
            .arg("serve")
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("docker-registry is missing: make setup installs it")?;
        let host = address(&mut process)?;
        Ok(Self {
            host,
            process,
            _folder: folder,
        })
    }

    pub fn url(&self, prefix: &str) -> String {
        format!("oci+http://{}/{prefix}", self.host)
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// It says which port it got; what it says later is read and left aside, so that it can go on.
fn address(process: &mut Child) -> Result<String> {
    let said = process.stderr.take().context("no standard error")?;
    let mut lines = BufReader::new(said).lines();
    let found = lines.by_ref().map_while(Result::ok).find_map(|line| {
        let (_, after) = line.split_once("listening on ")?;
        let end = after.find(|c: char| c != '.' && c != ':' && !c.is_ascii_digit());
        Some(after[..end.unwrap_or(after.len())].to_owned())
    });
    std::thread::spawn(move || lines.for_each(drop));
    found.context("docker-registry ended before it listened")
}
