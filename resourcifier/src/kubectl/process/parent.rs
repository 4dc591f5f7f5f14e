//! Ends kubectl with this process, even if this process is killed with `kill -9`.
//!
//! A process can ask the kernel for a signal at its parent's end (`PR_SET_PDEATHSIG`), also for a program that it
//! executes later. So this program starts itself in a special mode, asks for the signal, and then becomes kubectl.
//! Otherwise, a kubectl proxy would continue after its owner was killed, and so would its writes at the API server.
//!
//! Not the standard library's `pre_exec`: it is unsafe, and this workspace forbids that.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::getppid;

/// The first argument of the mode. The next ones are the parent's process id, the program, and its arguments.
const MODE: &str = "run-with-parent";
/// The exit code if the program cannot be run, as in a shell.
pub const NOT_RUN: u8 = 127;

/// The command for the program, started by `launcher` if there is one: a program that calls [`become_program`].
pub fn command(launcher: Option<&Path>, program: &Path) -> Command {
    let Some(launcher) = launcher else {
        return Command::new(program);
    };
    let mut command = Command::new(launcher);
    command.arg(MODE).arg(std::process::id().to_string());
    command.arg(program);
    command
}

/// Becomes the program in the arguments, if they ask for this mode. Returns an error if that is not possible, and
/// `None` if they do not ask for it.
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
    // The parent may have ended before the signal was requested.
    if getppid().to_string() != *parent.to_string_lossy() {
        return Some("the parent has ended".to_owned());
    }
    let error = Command::new(&program).args(arguments).exec();
    Some(format!("{}: {error}", program.to_string_lossy()))
}
