//! The manager's process.

use std::process::ExitCode;

use clap::Parser;
use manager::Config;

fn main() -> ExitCode {
    // Not a flag of the manager: it starts itself so, before it opens a store.
    match manager::looks_at_store(std::env::args_os()) {
        true => ExitCode::SUCCESS,
        false => serve(),
    }
}

#[tokio::main]
async fn serve() -> ExitCode {
    match manager::run(Config::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("manager: {error:#}");
            ExitCode::FAILURE
        }
    }
}
