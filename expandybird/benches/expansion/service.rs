//! The service's program, and what the kernel says of its memory.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::program::{Program, bytes, children, shown};

pub struct Service {
    program: Program,
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
        ensure!(
            program.with_file_name("expandybird-worker").exists(),
            "build it first: cargo build --release -p expandybird-worker"
        );
        Ok(Self {
            program: Program::start(&[])?,
        })
    }

    pub fn port(&self) -> u16 {
        self.program.port
    }

    pub fn memory(&self) -> Result<Memory> {
        let worker = shown(self.worker()?, "smaps_rollup");
        Ok(Memory {
            server_bytes: bytes(&shown(self.program.id(), "status"), "VmRSS:")?,
            worker_bytes: bytes(&worker, "Private_Dirty:")? + bytes(&worker, "Shared_Dirty:")?,
        })
    }

    /// The process id of the warm worker: the server's other children are expansion processes.
    fn worker(&self) -> Result<u32> {
        let is_worker = |id: &u32| {
            let name = std::fs::read_to_string(shown(*id, "comm"));
            name.is_ok_and(|name| name.starts_with("expandybird-wo"))
        };
        let mut children = children(self.program.id()).into_iter();
        children
            .find(is_worker)
            .context("the service has no worker")
    }
}
