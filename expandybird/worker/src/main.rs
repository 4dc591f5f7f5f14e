//! `expandybird-worker`: runs Python templates for the expandybird service, which starts it.
//!
//! The process the server starts is the *zygote*: it loads Python once and runs no template itself
//! ([`zygote`]). For every session it forks a child that locks itself down ([`lockdown`]) and only
//! then runs templates ([`session`]). The only crate that links Python; it knows nothing of HTTP,
//! of YAML files or of layouts.

mod error;
mod interpreter;
mod lockdown;
mod session;
mod system_calls;
mod value;
mod zygote;

use std::process::ExitCode;

fn main() -> ExitCode {
    match zygote::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("expandybird-worker: {}", error::chain(&error));
            ExitCode::FAILURE
        }
    }
}
