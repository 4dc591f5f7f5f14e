//! The manager's process.

use std::process::ExitCode;

use clap::Parser;
use manager::Config;

#[tokio::main]
async fn main() -> ExitCode {
    match manager::run(Config::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("manager: {error:#}");
            ExitCode::FAILURE
        }
    }
}
