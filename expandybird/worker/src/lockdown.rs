//! Leaves the process of a session only the ability to compute, before it receives a template.
//!
//! Responsible for the kernel's protections: Landlock (files, TCP, signals), seccomp (through [`crate::system_calls`]),
//! resource limits and `no_new_privs`, and for a correct report of those in force. All of them are permanent: the
//! process cannot weaken them later.

use expandybird_confinement::{
    FileRules, Files, Filter, Resource, die_with as follow, give_up_privileges, hide, limit,
};
use expandybird_protocol::session::{Limits, Lockdown};
use nix::unistd::Pid;

use crate::error::WorkerError;
use crate::system_calls;

/// Extra memory, above the limit of a session, for the report of an exhausted limit.
const RESERVE_BYTES: u64 = 48 << 20;

/// Three standard streams, the session, and some spare ones.
const OPEN_FILES: u64 = 32;

/// The prepared rules of a session, made before the fork.
pub struct Prepared {
    files: FileRules,
    system_calls: Filter,
    /// Whether the zygote has given up its privileges, which sessions inherit.
    narrowed: bool,
}

impl Prepared {
    /// Gives up privileges that neither the zygote nor its children need.
    pub fn new() -> Result<Self, WorkerError> {
        // No files at all. The filters have the same effect. These rules apply if one of them has a gap.
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

    /// Locks this process down and reports the protections in force. [`limit_resources`] must follow.
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

/// The last part of the lockdown, which differs between sessions.
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
    // The first limit ends the process with its own signal, SIGXCPU, which shows the server the reason. A session can
    // neither catch nor block it. The second limit would only kill the process.
    limit(
        Resource::RLIMIT_CPU,
        limits.cpu_seconds,
        limits.cpu_seconds + 1,
    )?;
    allot(Memory::Worker, limits)
}

/// Which code uses memory: the template, or our code that reads its result and describes its end.
#[derive(Debug, Clone, Copy)]
pub enum Memory {
    Template,
    Worker,
}

/// Changes the limit of memory. The template itself cannot raise it above the worker's.
pub fn allot(memory: Memory, limits: &Limits) -> Result<(), WorkerError> {
    let hard = limits.memory_bytes + RESERVE_BYTES;
    let soft = match memory {
        Memory::Template => limits.memory_bytes,
        Memory::Worker => hard,
    };
    Ok(limit(Resource::RLIMIT_AS, soft, hard)?)
}

/// Ends this process when `parent` ends. False if it has already ended: then nothing would end this process.
pub fn die_with(parent: Pid) -> Result<bool, WorkerError> {
    Ok(follow(parent)?)
}
