//! `expandybird-worker`: runs Python templates for the expandybird service, which starts it.
//!
//! The process the server starts is the *zygote*: it loads Python once and runs no template of
//! anybody's ([`zygote`]). For every session it forks a child that locks itself down ([`lockdown`]) and only
//! then runs templates ([`session`]). The only crate that links Python; it knows nothing of HTTP,
//! of YAML files or of layouts.

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

/// Where the interpreter this program is linked against keeps its library.
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

/// Begins again with Python's home in the environment, unless it is there: an embedded interpreter
/// reads it nowhere else, and would guess from the current folder. The time zone is there for the C
/// library, which reads it once; given in full, it needs no file.
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
