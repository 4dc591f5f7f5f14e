//! The service's program, on a free port, and what the kernel says of its memory.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

const PATIENCE: Duration = Duration::from_secs(20);

pub struct Service {
    child: Child,
    pub port: u16,
    _folder: tempfile::TempDir,
}

/// What is in memory now.
pub struct Memory {
    pub server_bytes: u64,
    /// Pages that the worker wrote to, whether or not a child of it still shares them.
    pub worker_bytes: u64,
}

impl Service {
    pub fn start() -> Result<Self> {
        let program = Path::new(env!("CARGO_BIN_EXE_expandybird"));
        let worker = program.with_file_name("expandybird-worker");
        ensure!(
            worker.exists(),
            "build it first: cargo build --release -p expandybird-worker"
        );
        let folder = tempfile::tempdir()?;
        let port_file = folder.path().join("port");
        let child = Command::new(program)
            .args(["--listen", "127.0.0.1:0", "--port-file"])
            .arg(&port_file)
            .stderr(Stdio::null())
            .spawn()?;
        let mut service = Self {
            child,
            port: 0,
            _folder: folder,
        };
        service.port = port(&port_file)?;
        Ok(service)
    }

    pub fn memory(&self) -> Result<Memory> {
        let worker = format!("/proc/{}/smaps_rollup", self.worker()?);
        Ok(Memory {
            server_bytes: bytes(&self.process("status"), "VmRSS:")?,
            worker_bytes: bytes(Path::new(&worker), "Private_Dirty:")?
                + bytes(Path::new(&worker), "Shared_Dirty:")?,
        })
    }

    /// The process id of the warm worker: the server's other children are expansion processes.
    fn worker(&self) -> Result<u32> {
        let mut children = String::new();
        for task in std::fs::read_dir(self.process("task"))? {
            children += &std::fs::read_to_string(task?.path().join("children"))?;
        }
        let is_worker = |id: &&str| {
            let name = std::fs::read_to_string(format!("/proc/{id}/comm"));
            name.is_ok_and(|name| name.starts_with("expandybird-wo"))
        };
        let worker = children.split_whitespace().find(is_worker);
        Ok(worker.context("the service has no worker")?.parse()?)
    }

    fn process(&self, file: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{file}", self.child.id()))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let ended = self.child.kill().and_then(|()| self.child.wait());
        if let Err(error) = ended {
            eprintln!("cannot end the service: {error}");
        }
    }
}

fn port(file: &Path) -> Result<u16> {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        if let Ok(text) = std::fs::read_to_string(file) {
            return Ok(text.trim().parse()?);
        }
        std::thread::yield_now();
    }
    bail!("the service has no port after {PATIENCE:?}")
}

/// A figure that the kernel gives in kilobytes.
fn bytes(file: &Path, field: &str) -> Result<u64> {
    let text = std::fs::read_to_string(file)?;
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    let number = line.with_context(|| format!("{} has no {field}", file.display()))?;
    let kilobytes: u64 = number.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes * 1024)
}
