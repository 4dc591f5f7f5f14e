//! Privileges that a process gives up for ever, and the process that it ends with.

use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{Pid, getppid};

use crate::error::Error;

/// No program that the process starts can have more privileges. Filters require this first.
pub fn give_up_privileges() -> Result<(), Error> {
    prctl::set_no_new_privs().map_err(Error::system("set no_new_privs"))
}

/// No process of the same user can read the memory of this one.
pub fn hide() -> Result<(), Error> {
    prctl::set_dumpable(false).map_err(Error::system("hide from debuggers"))
}

/// Ends this process when the thread that started it ends. False if `parent` has already ended: then nothing would end
/// this process.
pub fn die_with(parent: Pid) -> Result<bool, Error> {
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(Error::system("follow the parent"))?;
    Ok(getppid() == parent)
}
