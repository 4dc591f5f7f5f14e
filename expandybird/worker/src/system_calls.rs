//! The system calls of a session: which pass, which fail, and which end it.
//!
//! | call | [`known`], since the zygote | [`refused`], since the zygote | [`forking`], in a session | in a session |
//! |---|---|---|---|---|
//! | computing, memory, its own stream | allow | allow | allow | it passes |
//! | starting and confining a session | allow | allow | `EPERM` | Python raises `PermissionError` |
//! | files, sockets, clocks, signals, names | allow | `EPERM` | allow | Python raises `PermissionError` |
//! | anything else | kill | allow | allow | the process dies of `SIGSYS` |
//!
//! The kernel takes the strictest answer of the three. A session inherits the first two and installs
//! the third only, which is short: the kernel looks at every call that there is, once for each filter
//! that it takes, and a session waits for that.
//!
//! No call opens, lists or examines a file, so neither the library nor `/proc` exists for a session.

use expandybird_confinement::{Action, Compare, Error, Filter, Rule, Rules, all_of, always};
use nix::libc;

/// Kills a process for calls that neither our code nor Python uses. For the zygote and all its forks.
pub fn known() -> Result<Filter, Error> {
    let calls = always(ALLOWED)
        .chain(always(FORKING))
        .chain(always(REFUSED))
        .chain(always(CONDITIONAL));
    Filter::compile(calls.collect(), Action::Kill)
}

/// Refuses calls that neither a warm zygote nor a session uses.
pub fn refused() -> Result<Filter, Error> {
    let mut rules = conditional()?;
    rules.extend(always(REFUSED));
    Filter::refusing(rules)
}

/// Refuses calls that only the zygote uses, to start sessions. It also forbids installing another filter.
pub fn forking() -> Result<Filter, Error> {
    Filter::refusing(always(FORKING).collect())
}

/// Calls that are refused because of their arguments.
fn conditional() -> Result<Rules, Error> {
    let executable = libc::PROT_EXEC as u64;
    let asks_to_execute = || all_of(&[(2, Compare::MaskedEq(executable), executable)]);
    Ok(Rules::from([
        // No new code: modules written in C are loaded before the lockdown, none after it.
        (libc::SYS_mmap, vec![asks_to_execute()?]),
        (libc::SYS_mprotect, vec![asks_to_execute()?]),
        // Not the limits of other processes.
        (libc::SYS_prlimit64, vec![all_of(&[(0, Compare::Ne, 0)])?]),
        // Not the owner or signal of a descriptor: they could kill the parent.
        (libc::SYS_fcntl, vec![none_of(1, FCNTL)?]),
        // Not the signal for exhausted processor time: it shows why the process ended.
        (
            libc::SYS_rt_sigaction,
            vec![all_of(&[(0, Compare::Eq, libc::SIGXCPU as u64)])?],
        ),
        (libc::SYS_ioctl, vec![none_of(1, IOCTL)?]),
    ]))
}

/// The calls of [`conditional`].
const CONDITIONAL: &[i64] = &[
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_prlimit64,
    libc::SYS_fcntl,
    libc::SYS_rt_sigaction,
    libc::SYS_ioctl,
];

fn none_of(argument: u8, values: &[u64]) -> Result<Rule, Error> {
    let other = |&value: &u64| (argument, Compare::Ne, value);
    all_of(&values.iter().map(other).collect::<Vec<_>>())
}

const FCNTL: &[u64] = &[
    libc::F_GETFD as u64,
    libc::F_SETFD as u64,
    libc::F_GETFL as u64,
    libc::F_DUPFD as u64,
    libc::F_DUPFD_CLOEXEC as u64,
];

/// Python's calls on a descriptor: whether it is a terminal, and close-on-exec.
const IOCTL: &[u64] = &[libc::TCGETS, libc::FIOCLEX, libc::FIONCLEX];

/// The calls of a computing interpreter, apart from those in [`conditional`].
const ALLOWED: &[i64] = &[
    // Open descriptors.
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_recvfrom,
    libc::SYS_sendto,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_lseek,
    libc::SYS_dup,
    libc::SYS_getcwd,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    // Memory.
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    // Its own signals and threads, and waiting.
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_restart_syscall,
    libc::SYS_sched_yield,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_exit,
    libc::SYS_exit_group,
    // The older names of the above.
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_select,
];

/// How the zygote starts a session, and how the session locks itself down. Refused to the session after that.
const FORKING: &[i64] = &[
    libc::SYS_recvmsg,
    libc::SYS_clone,
    libc::SYS_clone3,
    // A mask could block the signal for exhausted processor time.
    libc::SYS_rt_sigprocmask,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_kill,
    libc::SYS_dup3,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_gettid,
    libc::SYS_prctl,
    libc::SYS_seccomp,
    libc::SYS_landlock_restrict_self,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_dup2,
];

/// Calls that templates may try, with or without intent. Python raises an exception for them.
const REFUSED: &[i64] = &[
    // Files: the library is also in memory. The metadata of a file would reveal the time.
    libc::SYS_openat,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
    libc::SYS_pread64,
    // Clocks, entropy and resource usage: native/machine.c replaces them.
    libc::SYS_clock_gettime,
    libc::SYS_clock_settime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_times,
    // Identity of the process and the machine: native/machine.c replaces them.
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_uname,
    libc::SYS_sched_getaffinity,
    libc::SYS_getcpu,
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
    libc::SYS_recvmmsg,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_getsockopt,
    libc::SYS_setsockopt,
    libc::SYS_shutdown,
    // Processes and threads.
    libc::SYS_execve,
    libc::SYS_execveat,
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
    // Signals and timers.
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_setitimer,
    libc::SYS_getitimer,
    // Changes to files.
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
    libc::SYS_eventfd2,
    libc::SYS_epoll_create1,
    libc::SYS_inotify_init1,
    libc::SYS_signalfd4,
    libc::SYS_timerfd_create,
    // Privileges.
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
    libc::SYS_open,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_creat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_stat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lstat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_access,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_readlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_getdents,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_time,
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
