//! The manager's process.

use std::process::ExitCode;

use clap::Parser;
use common::server::return_large_blocks;
use manager::Config;
use nix::sys::stat::{Mode, umask};

fn main() -> ExitCode {
    // Stores, audit logs, keys and caches are for the manager's user alone.
    umask(Mode::S_IRWXG | Mode::S_IRWXO);
    // Not a flag of the manager: it starts itself so, before it opens a store.
    match manager::looks_at_store(std::env::args_os()) {
        true => ExitCode::SUCCESS,
        false => start(),
    }
}

fn start() -> ExitCode {
    return_large_blocks("manager");
    let config = Config::parse();
    if config.print_openapi {
        println!("{:#}", manager::description());
        return ExitCode::SUCCESS;
    }
    serve(config)
}

#[tokio::main]
async fn serve(config: Config) -> ExitCode {
    match manager::run(config).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("manager: {error:#}");
            ExitCode::FAILURE
        }
    }
}
