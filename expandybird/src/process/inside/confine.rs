//! The privileges that an expansion process gives up before it reads a request.
//!
//! Jinja is interpreted, so no untrusted machine code runs here. The confinement is for the case that a bug in a
//! library lets a template do more.

use expandybird_confinement::{
    Action, Compare, Error, FileRules, Filter, Resource, Rules, always, die_with,
    give_up_privileges, hide, limit, one_of, rule,
};
use nix::libc;
use nix::unistd::{Pid, getpid};

use crate::process::message::Setup;
use crate::process::note::NOTE_BYTES;

/// Three standard streams, copies of two, and the stream of a Python process.
const OPEN_FILES: u64 = 16;

/// For the whole process, before it has a second thread. True if the kernel does not support all of it.
#[expect(
    clippy::disallowed_methods,
    reason = "the process of an attempt has nothing to tidy up"
)]
pub fn process(setup: &Setup, stack_bytes: u64) -> Result<bool, Error> {
    if !die_with(Pid::from_raw(setup.server))? {
        std::process::exit(0);
    }
    give_up_privileges()?;
    hide()?;
    let memory = setup.limits.memory_bytes + stack_bytes;
    for (resource, value) in [
        (Resource::RLIMIT_NOFILE, OPEN_FILES),
        (Resource::RLIMIT_FSIZE, NOTE_BYTES as u64),
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_DATA, memory),
    ] {
        limit(resource, value, value)?;
    }
    let files = FileRules::new(&[]).and_then(FileRules::enforce)?;
    Ok(!files.files)
}

/// For all its threads: no more are started later. True if the kernel does not support it.
pub fn threads() -> bool {
    let installed = allowed().and_then(|filter| filter.install_everywhere());
    if let Err(error) = &installed {
        eprintln!("expandybird: {error}");
    }
    installed.is_err()
}

fn allowed() -> Result<Filter, Error> {
    let not_executable = Compare::MaskedEq(libc::PROT_EXEC as u64);
    let own_id = getpid().as_raw() as u64;
    let mut rules = Rules::from([
        // No new code.
        (libc::SYS_mmap, vec![rule(2, not_executable.clone(), 0)?]),
        (libc::SYS_mprotect, vec![rule(2, not_executable, 0)?]),
        // No signals to other processes. Aborting sends one to itself.
        (libc::SYS_tgkill, vec![rule(0, Compare::Eq, own_id)?]),
        (libc::SYS_kill, vec![rule(0, Compare::Eq, own_id)?]),
        (
            libc::SYS_fcntl,
            one_of(1, &[libc::F_GETFD as u64, libc::F_GETFL as u64])?,
        ),
    ]);
    rules.extend(always(ALLOWED));
    // Fails instead of killing: a library that asks for the number of processors works without the answer.
    Filter::compile(rules, Action::Refuse)
}

/// The system calls for computing and two open streams, in addition to [`allowed`].
const ALLOWED: &[i64] = &[
    // The streams and the note.
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_sendto,
    libc::SYS_pwrite64,
    libc::SYS_close,
    libc::SYS_ppoll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    // Memory.
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    // Its own signals, threads and time.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_restart_syscall,
    libc::SYS_sched_yield,
    libc::SYS_clock_gettime,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_exit,
    libc::SYS_exit_group,
];
