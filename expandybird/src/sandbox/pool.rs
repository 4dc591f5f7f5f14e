//! Keeps one zygote alive and limits the sessions forked from it.
//!
//! Two processes are forked ahead, so that neither a request nor the one directly after it waits for a fork. Each
//! serves one request and takes no place in the pool before. A waiting process has no data of a request, and needs only
//! the few mebibytes that a session touches.

use std::collections::VecDeque;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};
use std::time::Duration;

use expandybird_protocol::control::Configuration;
use expandybird_protocol::session::{Limits, Lockdown, Open};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

use super::SandboxOptions;
use super::conversation::{Conversation, Ended};
use super::error::{SandboxError, ended};
use super::lease::{Lease, Spare};
use super::process::Zygote;
use crate::admission::{Caller, Permits};

/// After a failed start, no new zygote is tried for this long, because every request would wait for it.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Processes that wait for their sessions.
const SPARES: usize = 2;

/// A session that only reports the protections.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);
const PROBE_LIMITS: Limits = Limits {
    memory_bytes: 256 << 20,
    cpu_seconds: 5,
    output_bytes: 1 << 10,
};

#[derive(Debug)]
pub(super) struct Pool {
    worker: PathBuf,
    configuration: Configuration,
    places: Arc<Permits>,
    current: Mutex<Current>,
}

#[derive(Debug)]
enum Current {
    None,
    Warm(Warm),
    Failed { at: Instant, reason: String },
}

/// A zygote, and what the kernel enforces on its children.
#[derive(Debug, Clone)]
pub(super) struct Warm {
    pub(super) zygote: Arc<Zygote>,
    pub(super) lockdown: Lockdown,
    spares: Arc<StdMutex<VecDeque<Spare>>>,
}

impl Warm {
    /// The oldest waiting process, or one forked now.
    fn take_spare(&self) -> Result<Spare, SandboxError> {
        match self.spares().pop_front() {
            Some(spare) => Ok(spare),
            None => Spare::fork(&self.zygote),
        }
    }

    /// Forks processes for the next requests. A failure is not this request's failure: the next request forks its own
    /// process, and reports what is wrong.
    pub(super) fn fork_ahead(&self) {
        let mut spares = self.spares();
        while spares.len() < SPARES {
            match Spare::fork(&self.zygote) {
                Ok(forked) => spares.push_back(forked),
                Err(error) => {
                    tracing::debug!(%error, "no process is forked ahead");
                    return;
                }
            }
        }
    }

    /// After a waiting process was lost, the others may be lost too, so the next request gets a new one. They exit when
    /// their streams are closed.
    pub(super) fn forget_spares(&self) {
        self.spares().clear();
    }

    fn spares(&self) -> MutexGuard<'_, VecDeque<Spare>> {
        self.spares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pool {
    pub(super) fn new(options: SandboxOptions) -> Result<Self, SandboxError> {
        let folder = program_folder()?;
        let python_path = match options.python_path {
            Some(path) => Some(absolute(&path)?),
            None => Some(folder.join("../python")).filter(|path| path.is_dir()),
        };
        Ok(Self {
            worker: match options.worker {
                Some(path) => absolute(&path)?,
                None => folder.join("expandybird-worker"),
            },
            configuration: Configuration {
                python_path,
                allow_weak_lockdown: options.allow_weak_lockdown,
            },
            places: Permits::new(options.max_sessions),
            current: Mutex::new(Current::None),
        })
    }

    /// Waits for a place, then takes a process, both within the deadline.
    pub(super) async fn lease(
        &self,
        caller: &Caller,
        deadline: Instant,
    ) -> Result<Lease, SandboxError> {
        match self.try_lease(caller, deadline).await {
            // No template ran yet, so another process repeats nothing.
            Err(SandboxError::Lost) => self.try_lease(caller, deadline).await,
            outcome => outcome,
        }
    }

    async fn try_lease(&self, caller: &Caller, deadline: Instant) -> Result<Lease, SandboxError> {
        let place = self.places.take(caller, deadline).await;
        let place = place.map_err(|_| SandboxError::Busy {
            sessions: self.places.total(),
        })?;
        let warm = timeout_at(deadline, self.warm())
            .await
            .map_err(|_| SandboxError::Timeout)??;
        let spare = warm.take_spare()?;
        Lease::new(warm, spare, place)
    }

    /// The running zygote, or a new one.
    pub(super) async fn warm(&self) -> Result<Warm, SandboxError> {
        let mut current = self.current.lock().await;
        match &*current {
            Current::Warm(warm) if warm.zygote.is_alive() => return Ok(warm.clone()),
            Current::Failed { at, reason } if at.elapsed() < RETRY_AFTER => {
                let reason = reason.clone();
                return Err(SandboxError::NotAvailable { reason });
            }
            Current::Warm(_) => tracing::warn!("the zygote has ended; starting another"),
            Current::None | Current::Failed { .. } => {}
        }
        let started = self.start().await;
        *current = match &started {
            Ok(warm) => Current::Warm(warm.clone()),
            Err(error) => Current::Failed {
                at: Instant::now(),
                reason: reason(error),
            },
        };
        started
    }

    async fn start(&self) -> Result<Warm, SandboxError> {
        let zygote = Arc::new(Zygote::start(&self.worker, self.configuration.clone()).await?);
        let mut warm = Warm {
            zygote,
            lockdown: Lockdown::default(),
            spares: Arc::default(),
        };
        warm.lockdown = probe(&warm).await?;
        warm.fork_ahead();
        let (python, lockdown) = (&warm.zygote.python_version, &warm.lockdown);
        tracing::info!(python.version = %python, ?lockdown, "python templates are ready");
        Ok(warm)
    }
}

/// The protections of the kernel, from a session that locks itself down and runs nothing.
async fn probe(warm: &Warm) -> Result<Lockdown, SandboxError> {
    let deadline = Instant::now() + PROBE_TIMEOUT;
    let caller = Caller::default();
    let place = Permits::new(1).take(&caller, deadline).await;
    let place = place.map_err(|_| SandboxError::Timeout)?;
    let mut lease = Lease::new(warm.clone(), warm.take_spare()?, place)?;
    let Some(stream) = lease.stream() else {
        return Err(SandboxError::SessionOver);
    };
    let stream = UnixStream::from(stream);
    let asked = tokio::task::spawn_blocking(move || {
        let open = Open {
            imports: Vec::new(),
            limits: PROBE_LIMITS,
            current_time: 0,
            seed: 0,
        };
        Conversation::new(stream, open)?.lockdown()
    });
    match timeout_at(deadline, asked).await {
        Ok(Ok(Ok(lockdown))) => Ok(lockdown),
        Ok(Ok(Err(Ended::Failed(error)))) => Err(error),
        Ok(Ok(Err(Ended::Closed))) => Err(ended(lease.how_it_ended(false).await, &PROBE_LIMITS)),
        Ok(Err(panicked)) => Err(SandboxError::unavailable("probe the sandbox", &panicked)),
        Err(_) => Err(SandboxError::Timeout),
    }
}

fn reason(error: &SandboxError) -> String {
    match error {
        SandboxError::NotAvailable { reason } => reason.clone(),
        other => other.to_string(),
    }
}

fn program_folder() -> Result<PathBuf, SandboxError> {
    let program = std::env::current_exe()
        .map_err(|error| SandboxError::unavailable("find this program's folder", &error))?;
    let folder = program.parent().map(Path::to_path_buf);
    folder.ok_or_else(|| SandboxError::NotAvailable {
        reason: format!("{} lies in no folder", program.display()),
    })
}

fn absolute(path: &Path) -> Result<PathBuf, SandboxError> {
    std::path::absolute(path)
        .map_err(|error| SandboxError::unavailable(&format!("use {}", path.display()), &error))
}
