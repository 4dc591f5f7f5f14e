//! The program on a free port, and the processes that it starts, as the kernel shows them.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Far more than anything takes that is not broken.
const PATIENCE: Duration = Duration::from_secs(60);

/// Ends when it is dropped.
pub struct Program {
    pub child: Child,
    pub port: u16,
    _folder: tempfile::TempDir,
}

impl Program {
    /// With these flags beside those that every caller needs. Returns when it accepts.
    pub fn start(flags: &[&str]) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let port_file = folder.path().join("port");
        let child = Command::new(env!("CARGO_BIN_EXE_expandybird"))
            .args(["--listen", "127.0.0.1:0", "--port-file"])
            .arg(&port_file)
            .args(flags)
            .stderr(Stdio::null())
            .spawn()?;
        let mut program = Self {
            child,
            port: 0,
            _folder: folder,
        };
        program.port = port(&port_file)?;
        Ok(program)
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let ended = self.child.kill().and_then(|()| self.child.wait());
        if let Err(error) = ended {
            eprintln!("cannot end the program: {error}");
        }
    }
}

fn port(file: &Path) -> io::Result<u16> {
    let started = Instant::now();
    loop {
        match std::fs::read_to_string(file) {
            Ok(text) => return text.trim().parse().map_err(io::Error::other),
            Err(error) if started.elapsed() > PATIENCE => return Err(error),
            Err(_) => std::thread::yield_now(),
        }
    }
}

/// What the kernel shows of a process in a file of this name.
pub fn shown(process: u32, file: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{process}/{file}"))
}

/// The process ids of what a process has started.
pub fn children(parent: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(shown(parent, "task"));
    let lists = tasks.into_iter().flatten().flatten();
    let lists = lists.map(|task| std::fs::read_to_string(task.path().join("children")));
    lists
        .flatten()
        .flat_map(|list| {
            let ids = list
                .split_whitespace()
                .map(str::parse)
                .map_while(Result::ok);
            ids.collect::<Vec<u32>>()
        })
        .collect()
}

/// A figure in bytes of `/proc/PID/status` and its like, which give it in kilobytes.
pub fn bytes(file: &Path, field: &str) -> io::Result<u64> {
    let text = std::fs::read_to_string(file)?;
    let number = text.lines().find_map(|line| line.strip_prefix(field));
    let number = number.map(|number| number.trim().trim_end_matches("kB").trim());
    let kilobytes: Option<u64> = number.and_then(|number| number.parse().ok());
    let missing = || io::Error::other(format!("{} has no {field}", file.display()));
    kilobytes
        .map(|kilobytes| kilobytes * 1024)
        .ok_or_else(missing)
}
