//! Processes that end, and a control plane that stands still.

use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Result;
use nix::sys::signal::{Signal, kill};

use super::World;
use crate::moves::{Fault, Program};

impl World {
    /// Returns when the process runs again.
    pub async fn strike(&self, fault: Fault) -> Result<()> {
        self.disturbed.store(true, Ordering::SeqCst);
        let mut stack = self.stack.lock().await;
        let program = match fault {
            Fault::KillKubectl => {
                for child in stack.resourcifier.children() {
                    // It may have ended by itself just now.
                    let _ = kill(child, Signal::SIGKILL);
                }
                return Ok(());
            }
            Fault::Kill(program) | Fault::Terminate(program) => program,
        };
        let service = match program {
            Program::Manager => &mut stack.manager,
            Program::Expandybird => &mut stack.expandybird,
            Program::Resourcifier => &mut stack.resourcifier,
        };
        match fault {
            Fault::Terminate(_) => service.stop().await?,
            _ => service.crash()?,
        }
        service.again().await?;
        stack.ready().await
    }

    /// The control plane stands still for a time.
    pub async fn freeze(&self, time: Duration) -> Result<()> {
        self.disturbed.store(true, Ordering::SeqCst);
        self.cluster.freeze(time).await
    }
}
