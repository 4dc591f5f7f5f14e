//! The expansion processes that wait for requests.
//!
//! The most recently used process is used next, because its caches are warm. [`crate::admission`] limits their number.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::death::Death;
use super::handle::Lent;
use super::message::{Limits, Setup};
use super::starter::{Process, Starter};

/// Requests that one process serves before it is replaced.
const REQUESTS: usize = 100_000;

#[derive(Debug, Clone)]
pub struct PoolOptions {
    /// The program to start. Default: this program.
    pub program: Option<PathBuf>,
    pub limits: Limits,
}

#[derive(Debug)]
pub struct Pool {
    starter: Starter,
    idle: Mutex<Vec<Idle>>,
}

#[derive(Debug)]
pub(super) struct Idle {
    pub process: Box<Process>,
    pub served: usize,
}

impl Pool {
    pub fn new(options: PoolOptions) -> io::Result<Arc<Self>> {
        let program = options
            .program
            // Also after the program's file was replaced: a process runs the same program as its server.
            .unwrap_or_else(|| PathBuf::from("/proc/self/exe"));
        let setup = Setup {
            server: nix::unistd::getpid().as_raw(),
            limits: options.limits,
        };
        Ok(Arc::new(Self {
            starter: Starter::new(program, setup)?,
            idle: Mutex::default(),
        }))
    }

    /// A process for one request: a waiting one, or a new one.
    pub async fn take(self: &Arc<Self>) -> io::Result<Lent> {
        let idle = self.idle().pop();
        let idle = match idle {
            Some(idle) => idle,
            None => self.start().await?,
        };
        Lent::new(self.clone(), idle)
    }

    /// Starts a process ahead, so that the first request need not wait for it.
    pub async fn warm_up(self: &Arc<Self>) -> io::Result<()> {
        if self.idle().is_empty() {
            let idle = self.start().await?;
            self.idle().push(idle);
        }
        Ok(())
    }

    /// A new process. One that is killed from outside while it starts, as by the kernel on a machine without memory, is
    /// started once more.
    async fn start(&self) -> io::Result<Idle> {
        let process = match self.starter.start().await {
            Ok(process) => process,
            Err(error) => {
                tracing::warn!(%error, "an expansion process did not start; trying again");
                self.starter.start().await?
            }
        };
        Ok(Idle {
            process: Box::new(process),
            served: 0,
        })
    }

    /// The number of waiting processes.
    pub fn waiting(&self) -> usize {
        self.idle().len()
    }

    pub(super) fn give_back(&self, idle: Idle) {
        match idle.served < REQUESTS {
            true => self.idle().push(idle),
            false => drop(self.bury(idle.process)),
        }
    }

    pub(super) fn bury(&self, process: Box<Process>) -> oneshot::Receiver<Death> {
        self.starter.bury(process)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
