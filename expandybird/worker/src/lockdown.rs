//! Takes a session's process everything but computing, before it sees a template.
//!
//! Responsible for the kernel's means: Landlock (files, TCP, signals), seccomp (through
//! [`crate::system_calls`]), resource limits and `no_new_privs`, and for an honest report of what
//! is in force. All of it is for good: nothing the process does later can widen it.

use expandybird_protocol::session::{Limits, Lockdown};
use landlock::{
    ABI, Access, AccessFs, AccessNet, LandlockStatus, PathBeneath, PathFd, RestrictionStatus,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};
use nix::sys::prctl;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::Signal;
use nix::unistd::{Pid, getppid};

use crate::error::WorkerError;
use crate::system_calls::{Allowed, Known};

/// The rules we know and have tested. An older kernel enforces what it knows of them.
const RULES: ABI = ABI::V7;

/// Room left, above a session's memory, for describing how it ran out of it.
const RESERVE_BYTES: u64 = 48 << 20;

/// Three standard streams, the session, and the files an import has open at a time.
const OPEN_FILES: u64 = 32;

/// Gives up, for the zygote and all its children, what neither has any use for.
///
/// The error is for the log: sessions install a filter of their own, and say if that fails.
pub fn narrow() -> Result<(), WorkerError> {
    prctl::set_no_new_privs().map_err(WorkerError::system("set no_new_privs"))?;
    Known::compile()?.install()
}

/// Everything prepared that can be before the fork.
pub struct Prepared {
    files: RulesetCreated,
    system_calls: Allowed,
}

impl Prepared {
    /// `folders` stay readable: Python's library and packages.
    pub fn new(folders: &[String]) -> Result<Self, WorkerError> {
        Ok(Self {
            files: file_rules(folders)?,
            system_calls: Allowed::compile()?,
        })
    }

    /// Locks this process down and says what is in force, once [`limit_resources`] has followed.
    pub fn apply(self) -> Result<Lockdown, WorkerError> {
        prctl::set_no_new_privs().map_err(WorkerError::system("set no_new_privs"))?;
        prctl::set_dumpable(false).map_err(WorkerError::system("hide from debuggers"))?;
        let rules = self.files.restrict_self().map_err(WorkerError::FileRules)?;
        let seccomp = self.system_calls.install();
        if let Err(error) = &seccomp {
            eprintln!("expandybird-worker: {}", crate::error::chain(error));
        }
        Ok(report(&rules, seccomp.is_ok()))
    }
}

fn file_rules(folders: &[String]) -> Result<RulesetCreated, WorkerError> {
    let mut rules = Ruleset::default()
        .handle_access(AccessFs::from_all(RULES))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(RULES)))
        .and_then(|rules| rules.scope(Scope::from_all(RULES)))
        .and_then(Ruleset::create)
        .map_err(WorkerError::FileRules)?;
    for folder in folders {
        let opened = PathFd::new(folder).map_err(|source| WorkerError::Folder {
            folder: folder.clone(),
            source,
        })?;
        // Not executable: that is for programs; modules written in C are loaded by now.
        let reading = AccessFs::ReadFile | AccessFs::ReadDir;
        rules = rules
            .add_rule(PathBeneath::new(opened, reading))
            .map_err(WorkerError::FileRules)?;
    }
    Ok(rules)
}

fn report(rules: &RestrictionStatus, seccomp: bool) -> Lockdown {
    let abi = match rules.landlock {
        LandlockStatus::Available { effective_abi, .. } => Some(effective_abi as u32),
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => None,
    };
    let since =
        |version| rules.ruleset != RulesetStatus::NotEnforced && abi >= Some(version as u32);
    Lockdown {
        landlock_abi: abi,
        files: since(ABI::V1),
        network: since(ABI::V4),
        signals: since(ABI::V6),
        seccomp,
        no_new_privileges: rules.no_new_privs,
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
        setrlimit(resource, value, value).map_err(WorkerError::system("limit resources"))?;
    }
    // The first limit ends it with a signal of its own, SIGXCPU, which tells the server why and
    // which a session can neither catch nor hold back. The second would only say that it was killed.
    setrlimit(
        Resource::RLIMIT_CPU,
        limits.cpu_seconds,
        limits.cpu_seconds + 1,
    )
    .map_err(WorkerError::system("limit processor time"))?;
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
    setrlimit(Resource::RLIMIT_AS, soft, hard).map_err(WorkerError::system("limit memory"))
}

/// Ends this process when `parent` does. False if it has ended already: nobody will end us then.
pub fn die_with(parent: Pid) -> Result<bool, WorkerError> {
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(WorkerError::system("follow the parent"))?;
    Ok(getppid() == parent)
}
