//! The manager's process.

use clap::Parser;
use manager::Config;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    manager::run(Config::parse()).await
}
