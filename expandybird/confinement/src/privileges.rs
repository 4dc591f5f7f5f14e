//! What a process may never become, and which process it ends with.

use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{Pid, getppid};

use crate::error::Error;

/// No program that the process starts can give it more rights. Filters need this first.
pub fn give_up_privileges() -> Result<(), Error> {
    prctl::set_no_new_privs().map_err(Error::system("set no_new_privs"))
}

/// No process of the same user can read this one's memory.
pub fn hide() -> Result<(), Error> {
    prctl::set_dumpable(false).map_err(Error::system("hide from debuggers"))
}

/// Ends this process when the thread that started it ends. False if `parent` has ended already: then
/// nobody will end us.
pub fn die_with(parent: Pid) -> Result<bool, Error> {
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(Error::system("follow the parent"))?;
    Ok(getppid() == parent)
}
