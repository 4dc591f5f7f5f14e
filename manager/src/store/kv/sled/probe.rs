//! A first look at a store, in a process that may die.
//!
//! On rare damage sled corrupts the memory of its process. So before the manager opens a store, it starts its own program
//! once more, to open the store and read it for a short time. If that process ends by a signal, the manager does not open
//! the store, and says why. All other damage is found and described by the manager itself.
//!
//! A large store is not read to its end: that would take longer than the rest of the start.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::getppid;

use super::super::KvError;
use super::disk::files::LOG;
use super::{failed, loss, open};

/// The first argument of the process. It is no flag of the manager.
const ARGUMENT: &str = "look-at-store";
/// The time for reading, as long as the manager itself reads a store before it serves.
const READ: Duration = Duration::from_millis(500);
/// Signals by which a process reports that its memory is not as it should be.
const OF_DAMAGE: [Signal; 5] = [
    Signal::SIGSEGV,
    Signal::SIGABRT,
    Signal::SIGBUS,
    Signal::SIGILL,
    Signal::SIGFPE,
];

/// Lets another process look at the store first.
///
/// # Errors
/// [`KvError::Damaged`] if that process ended by a signal, [`KvError::Failed`] if it could not be started.
pub fn look(folder: &Path, program: &Path) -> Result<(), KvError> {
    if !folder.join(LOG).exists() {
        return Ok(());
    }
    let process = Command::new(program)
        .args([OsStr::new(ARGUMENT), folder.as_os_str()])
        .arg(std::process::id().to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let status = process.map_err(|error| failed("opened", &error))?;
    judged(folder, status)
}

fn judged(folder: &Path, status: ExitStatus) -> Result<(), KvError> {
    let Some(number) = status.signal() else {
        return Ok(());
    };
    match Signal::try_from(number) {
        Ok(signal) if OF_DAMAGE.contains(&signal) => {
            let reason = format!("a process that read it ended by {signal}");
            Err(loss::damaged(folder, LOG, &reason))
        }
        _ => Err(failed(
            "opened",
            &format!("the process that looks at it first ended by signal {number}; start again"),
        )),
    }
}

/// Looks at the store if the arguments of this process ask for it; whether they do.
pub fn was_asked(arguments: impl IntoIterator<Item = OsString>) -> bool {
    let mut arguments = arguments.into_iter().skip(1);
    if arguments.next().is_none_or(|first| first != ARGUMENT) {
        return false;
    }
    let folder = PathBuf::from(arguments.next().unwrap_or_default());
    let parent = arguments.next().unwrap_or_default();
    // A manager that is started again must not find this process in the store.
    let follows = prctl::set_pdeathsig(Signal::SIGKILL).is_ok();
    if follows && getppid().to_string() == *parent.to_string_lossy() {
        read(&folder);
    }
    true
}

/// What cannot be read, the manager finds too: here it is only tried.
fn read(folder: &Path) {
    let config = sled::Config::new()
        .path(folder)
        .cache_capacity(open::CACHE_BYTES);
    let Ok(db) = config.open() else { return };
    let begun = Instant::now();
    let mut entries = db.iter();
    while begun.elapsed() < READ {
        let Some(Ok(_)) = entries.next() else { return };
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn program(folder: &Path, script: &str) -> PathBuf {
        let path = folder.join("program");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).unwrap();
        path
    }

    fn looked(script: &str) -> Result<(), KvError> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(LOG), "").unwrap();
        look(folder.path(), &program(folder.path(), script))
    }

    #[test]
    fn a_store_that_kills_its_reader_is_damaged_and_a_reader_that_is_killed_says_nothing_of_it() {
        for signal in ["SEGV", "ABRT", "BUS"] {
            let error = looked(&format!("kill -{signal} $$")).unwrap_err();
            let said = error.to_string();
            assert!(matches!(error, KvError::Damaged { .. }), "{said}");
            assert!(said.contains("/db is damaged"), "{said}");
            assert!(said.contains(&format!("SIG{signal}")), "{said}");
            assert!(said.contains("restore a backup"), "{said}");
        }
        let error = looked("kill -KILL $$").unwrap_err();
        assert!(matches!(error, KvError::Failed { .. }), "{error}");
    }

    #[test]
    fn what_the_reader_says_by_its_exit_code_is_left_to_the_manager() {
        assert_eq!(looked("exit 0"), Ok(()));
        assert_eq!(looked("exit 101"), Ok(()));
    }

    #[test]
    fn a_store_that_is_not_there_yet_is_not_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let program = program(folder.path(), "kill -SEGV $$");
        assert_eq!(look(folder.path(), &program), Ok(()));
    }

    #[test]
    fn other_arguments_are_those_of_a_manager() {
        for arguments in [&["manager"][..], &["manager", "--listen", "127.0.0.1:0"]] {
            assert!(!was_asked(arguments.iter().map(OsString::from)));
        }
    }
}
