//! kubectl ends with this process, however that ends: `kill -9` too.
//!
//! The kernel sends the signal (`PR_SET_PDEATHSIG`) that a process has asked for itself, and keeps the wish over an exec. So
//! this program is started again, in a mode of its own, asks for the signal, and becomes kubectl. Without it a kubectl
//! proxy would go on after its owner was killed, and the API server with the writes that it had passed on.
//!
//! Not the standard library's `pre_exec`: it is unsafe, and this workspace forbids that.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::getppid;

/// The first argument of the mode. Then come the parent's process id, the program, and its arguments.
const MODE: &str = "run-with-parent";
/// The exit code where the program cannot be run, as of a shell.
pub const NOT_RUN: u8 = 127;

/// The command for the program, through `launcher` if there is one: a program that calls [`become_program`].
pub fn command(launcher: Option<&Path>, program: &Path) -> Command {
    let Some(launcher) = launcher else {
        return Command::new(program);
    };
    let mut command = Command::new(launcher);
    command.arg(MODE).arg(std::process::id().to_string());
    command.arg(program);
    command
}

/// Becomes the program that the arguments name, if they ask for this mode. Returns the reason if that is not possible, and
/// nothing if they do not ask for it.
pub fn become_program(arguments: impl IntoIterator<Item = OsString>) -> Option<String> {
    let mut arguments = arguments.into_iter().skip(1);
    if arguments.next()? != MODE {
        return None;
    }
    let parent = arguments.next().unwrap_or_default();
    let program = arguments.next().unwrap_or_default();
    if let Err(error) = prctl::set_pdeathsig(Signal::SIGKILL) {
        return Some(format!("the end of the parent cannot be watched: {error}"));
    }
    // It may have ended before the signal was asked for.
    if getppid().to_string() != *parent.to_string_lossy() {
        return Some("the parent has ended".to_owned());
    }
    let error = Command::new(&program).args(arguments).exec();
    Some(format!("{}: {error}", program.to_string_lossy()))
}
