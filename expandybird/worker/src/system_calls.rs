//! The system calls of a session: which pass, which fail, and that everything else ends it.
//!
//! Two filters, of whose answers the kernel takes the stricter:
//!
//! | call | [`Known`], since the zygote | [`Allowed`], in a session | together |
//! |---|---|---|---|
//! | computing, reading, memory | allow | allow | it passes |
//! | sockets, processes, signals, writing | allow | `EPERM` | Python raises `PermissionError` |
//! | anything else | kill | `EPERM` | the process dies of `SIGSYS` |
//!
//! The first is as long as the second and costs the kernel half a millisecond to take; the zygote's
//! children inherit it for nothing.
//!
//! Which files may be read is not decided here: a filter cannot see paths. That is
//! [`crate::lockdown`]'s, with Landlock.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule,
};

use crate::error::WorkerError;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Kills whoever makes a call that neither we nor Python have any use for.
pub struct Known(BpfProgram);

/// Refuses what a session has no use for.
pub struct Allowed(BpfProgram);

impl Known {
    pub fn compile() -> Result<Self, WorkerError> {
        let mut rules = conditional().map_err(explain)?;
        rules.values_mut().for_each(Vec::clear);
        rules.extend(
            always(ALLOWED)
                .chain(always(REFUSED))
                .chain(always(SETTING_UP)),
        );
        program(rules, SeccompAction::KillProcess).map(Self)
    }

    /// For this process and all it will fork.
    pub fn install(&self) -> Result<(), WorkerError> {
        install(&self.0)
    }
}

impl Allowed {
    pub fn compile() -> Result<Self, WorkerError> {
        let mut rules = conditional().map_err(explain)?;
        rules.extend(always(ALLOWED));
        program(rules, SeccompAction::Errno(libc::EPERM as u32)).map(Self)
    }

    /// For good: it does not allow installing another.
    pub fn install(&self) -> Result<(), WorkerError> {
        install(&self.0)
    }
}

fn install(program: &BpfProgram) -> Result<(), WorkerError> {
    seccompiler::apply_filter(program).map_err(|error| WorkerError::SystemCalls(error.to_string()))
}

fn program(rules: Rules, otherwise: SeccompAction) -> Result<BpfProgram, WorkerError> {
    let arch = std::env::consts::ARCH.try_into().map_err(explain)?;
    SeccompFilter::new(rules, otherwise, SeccompAction::Allow, arch)
        .and_then(BpfProgram::try_from)
        .map_err(explain)
}

fn explain(error: BackendError) -> WorkerError {
    WorkerError::SystemCalls(error.to_string())
}

fn always(calls: &[i64]) -> impl Iterator<Item = (i64, Vec<SeccompRule>)> {
    calls.iter().map(|&call| (call, Vec::new()))
}

/// Calls that pass or fail by what they ask for.
fn conditional() -> Result<Rules, BackendError> {
    let not_executable = SeccompCmpOp::MaskedEq(libc::PROT_EXEC as u64);
    Ok(Rules::from([
        // No new code: modules written in C are loaded before the lockdown, none after it.
        (libc::SYS_mmap, vec![rule(2, not_executable.clone(), 0)?]),
        (libc::SYS_mprotect, vec![rule(2, not_executable, 0)?]),
        // Not the limits of other processes.
        (libc::SYS_prlimit64, vec![rule(0, SeccompCmpOp::Eq, 0)?]),
        // Not the owner or signal of a descriptor: they could kill the parent.
        (libc::SYS_fcntl, one_of(1, FCNTL)?),
        // Not what happens when its processor time is up: that signal says why it ended.
        (
            libc::SYS_rt_sigaction,
            vec![rule(0, SeccompCmpOp::Ne, libc::SIGXCPU as u64)?],
        ),
        (libc::SYS_ioctl, one_of(1, IOCTL)?),
    ]))
}

fn one_of(argument: u8, values: &[u64]) -> Result<Vec<SeccompRule>, BackendError> {
    let values = values.iter();
    values
        .map(|&value| rule(argument, SeccompCmpOp::Eq, value))
        .collect()
}

fn rule(argument: u8, op: SeccompCmpOp, value: u64) -> Result<SeccompRule, BackendError> {
    let length = SeccompCmpArgLen::Dword;
    SeccompRule::new(vec![SeccompCondition::new(argument, length, op, value)?])
}

const FCNTL: &[u64] = &[
    libc::F_GETFD as u64,
    libc::F_SETFD as u64,
    libc::F_GETFL as u64,
    libc::F_DUPFD as u64,
    libc::F_DUPFD_CLOEXEC as u64,
];

/// What opening a file in Python asks: is it a terminal, and close it on exec.
const IOCTL: &[u64] = &[libc::TCGETS, libc::FIOCLEX, libc::FIONCLEX];

/// What a computing interpreter needs, beside what [`conditional`] says.
const ALLOWED: &[i64] = &[
    // Descriptors that are open, and files that Landlock lets it open.
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_recvfrom,
    libc::SYS_sendto,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_lseek,
    libc::SYS_dup,
    libc::SYS_openat,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
    libc::SYS_getcwd,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    // Memory.
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    // Its own signals, threads and time.
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_restart_syscall,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_times,
    libc::SYS_exit,
    libc::SYS_exit_group,
    // Who it is.
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_uname,
    // The older names of the above.
    #[cfg(target_arch = "x86_64")]
    libc::SYS_open,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_stat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lstat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_access,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_readlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_select,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_time,
];

/// How a session's process locks itself down; refused to it once it has.
const SETTING_UP: &[i64] = &[
    libc::SYS_prctl,
    libc::SYS_seccomp,
    libc::SYS_landlock_restrict_self,
];

/// What templates try, by accident or not, and get a Python exception for.
const REFUSED: &[i64] = &[
    // Network.
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_getsockopt,
    libc::SYS_setsockopt,
    libc::SYS_shutdown,
    // Processes and threads.
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_setsid,
    libc::SYS_setpgid,
    libc::SYS_getpgid,
    libc::SYS_getsid,
    libc::SYS_setpriority,
    libc::SYS_getpriority,
    libc::SYS_sched_setaffinity,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    // Signals and timers. A mask could hold back the signal that ends processor time.
    libc::SYS_rt_sigprocmask,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_setitimer,
    libc::SYS_getitimer,
    // Changes of files.
    libc::SYS_unlinkat,
    libc::SYS_renameat2,
    libc::SYS_mkdirat,
    libc::SYS_mknodat,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_truncate,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_utimensat,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_flock,
    libc::SYS_umask,
    libc::SYS_chdir,
    libc::SYS_fchdir,
    libc::SYS_chroot,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_getxattr,
    libc::SYS_listxattr,
    libc::SYS_setxattr,
    libc::SYS_copy_file_range,
    libc::SYS_sendfile,
    libc::SYS_splice,
    libc::SYS_memfd_create,
    // Further descriptors.
    libc::SYS_pipe2,
    libc::SYS_dup3,
    libc::SYS_eventfd2,
    libc::SYS_epoll_create1,
    libc::SYS_inotify_init1,
    libc::SYS_signalfd4,
    libc::SYS_timerfd_create,
    // Rights.
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setreuid,
    libc::SYS_setregid,
    libc::SYS_setresuid,
    libc::SYS_setresgid,
    libc::SYS_setgroups,
    libc::SYS_getgroups,
    libc::SYS_getresuid,
    libc::SYS_getresgid,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_sysinfo,
    // The older names of the above.
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_getpgrp,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_getrlimit,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_setrlimit,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_alarm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_pause,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_renameat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rmdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mknod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_link,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_symlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_dup2,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_pipe,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_eventfd,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_create,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_inotify_init,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_signalfd,
];
