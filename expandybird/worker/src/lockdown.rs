//! Takes a session's process everything but computing, before it sees a template.
//!
//! Responsible for the kernel's means: Landlock (files, TCP, signals), seccomp (through
//! [`crate::system_calls`]), resource limits and `no_new_privs`, and for an honest report of what
//! is in force. All of it is for good: nothing the process does later can widen it.

use expandybird_confinement::{
    FileRules, Files, Filter, Resource, die_with as follow, give_up_privileges, hide, limit,
};
use expandybird_protocol::session::{Limits, Lockdown};
use nix::unistd::Pid;

use crate::error::WorkerError;
use crate::system_calls;

/// Room left, above a session's memory, for describing how it ran out of it.
const RESERVE_BYTES: u64 = 48 << 20;

/// Three standard streams, the session, and some to spare.
const OPEN_FILES: u64 = 32;

/// What a session needs to lock itself down, made before the fork.
pub struct Prepared {
    files: FileRules,
    system_calls: Filter,
    /// Whether the zygote has given up its part, which sessions inherit.
    narrowed: bool,
}

impl Prepared {
    /// Gives up, for the zygote and all its children, what neither has any use for.
    pub fn new() -> Result<Self, WorkerError> {
        // No file at all. The filters say the same; these rules hold should one of them leave a gap.
        let files = FileRules::new(&[])?;
        let system_calls = system_calls::forking()?;
        let narrowed = narrow();
        if let Err(error) = &narrowed {
            eprintln!("expandybird-worker: {}", crate::error::chain(error));
        }
        Ok(Self {
            files,
            system_calls,
            narrowed: narrowed.is_ok(),
        })
    }

    /// Locks this process down and says what is in force, once [`limit_resources`] has followed.
    pub fn apply(self) -> Result<Lockdown, WorkerError> {
        let files = self.files.enforce()?;
        let seccomp = self.system_calls.install();
        if let Err(error) = &seccomp {
            eprintln!("expandybird-worker: {}", crate::error::chain(error));
        }
        Ok(report(files, self.narrowed && seccomp.is_ok()))
    }
}

fn narrow() -> Result<(), WorkerError> {
    give_up_privileges()?;
    hide()?;
    system_calls::known()?.install()?;
    Ok(system_calls::refused()?.install()?)
}

fn report(files: Files, seccomp: bool) -> Lockdown {
    Lockdown {
        landlock_abi: files.abi,
        files: files.files,
        network: files.network,
        signals: files.signals,
        seccomp,
        no_new_privileges: files.no_new_privileges,
        resource_limits: true,
    }
}

/// The last part of the lockdown, which differs from session to session.
pub fn limit_resources(limits: &Limits) -> Result<(), WorkerError> {
    let hard = [
        (Resource::RLIMIT_NPROC, 0),
        (Resource::RLIMIT_NOFILE, OPEN_FILES),
        (Resource::RLIMIT_FSIZE, 0),
        (Resource::RLIMIT_CORE, 0),
    ];
    for (resource, value) in hard {
        limit(resource, value, value)?;
    }
    // The first limit ends it with a signal of its own, SIGXCPU, which tells the server why and
    // which a session can neither catch nor hold back. The second would only say that it was killed.
    limit(
        Resource::RLIMIT_CPU,
        limits.cpu_seconds,
        limits.cpu_seconds + 1,
    )?;
    allot(Memory::Worker, limits)
}

/// Whose memory is being used: the template's, or ours to read its result and describe its end.
#[derive(Debug, Clone, Copy)]
pub enum Memory {
    Template,
    Worker,
}

/// Moves the limit of memory, which the template itself cannot raise above the worker's.
pub fn allot(memory: Memory, limits: &Limits) -> Result<(), WorkerError> {
    let hard = limits.memory_bytes + RESERVE_BYTES;
    let soft = match memory {
        Memory::Template => limits.memory_bytes,
        Memory::Worker => hard,
    };
    Ok(limit(Resource::RLIMIT_AS, soft, hard)?)
}

/// Ends this process when `parent` does. False if it has ended already: nobody will end us then.
pub fn die_with(parent: Pid) -> Result<bool, WorkerError> {
    Ok(follow(parent)?)
}
