//! `expandybird-worker`: runs Python templates for the expandybird service, which starts it.
//!
//! The server starts the *zygote*: a process that loads Python once and runs no templates of users ([`zygote`]). For
//! every session it forks a child that locks itself down ([`lockdown`]) and then runs templates ([`session`]). Only
//! this crate links Python. It does not know HTTP, YAML files or layouts.

mod error;
mod interpreter;
mod lockdown;
mod session;
mod system_calls;
mod value;
mod zygote;

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use error::WorkerError;

/// The folder of the Python library that this program is linked with.
const PYTHON_HOME: &str = env!("WORKER_PYTHON_HOME");

fn main() -> ExitCode {
    match at_home().and_then(|()| zygote::run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("expandybird-worker: {}", error::chain(&error));
            ExitCode::FAILURE
        }
    }
}

/// Restarts itself with Python's home in the environment, unless it is there: an embedded interpreter reads it nowhere
/// else, and would guess it from the current folder. The time zone is for the C library, which reads it once and needs
/// no file for this form.
#[expect(
    clippy::disallowed_methods,
    reason = "the variable is a rule of Python"
)]
fn at_home() -> Result<(), WorkerError> {
    if std::env::var_os("PYTHONHOME").is_some() {
        return Ok(());
    }
    let source = match std::env::current_exe() {
        Ok(program) => Command::new(program)
            .env("PYTHONHOME", PYTHON_HOME)
            .env("TZ", "UTC0")
            .exec(),
        Err(error) => error,
    };
    let action = "start with Python's home";
    Err(WorkerError::Io { action, source })
}
