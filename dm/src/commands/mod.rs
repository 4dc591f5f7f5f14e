//! The commands, a file each: what it takes, and what it does with it.

pub mod completion;
pub mod delete;
pub mod deploy;
pub mod deployed_instances;
pub mod deployed_types;
pub mod describe;
pub mod expand;
pub mod get;
pub mod layout;
pub mod list;
pub mod manifest;
pub mod operations;
pub mod registries;
pub mod status;
pub mod templates;
pub mod update;
pub mod version;
pub mod wait;
mod write;

use crate::cli::{Cli, Command};
use crate::error::Failure;
use crate::session::{Session, within};
use crate::terminal::Terminal;

pub async fn run(cli: Cli, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
    if let Some(flag) = cli.command.refused_flag(&cli.before) {
        return Err(Failure::Usage(format!("this command does not take {flag}")));
    }
    let mut session = Session::new(cli.flags, terminal)?;
    match cli.command {
        // These bound the operation, and wait for it in their own way.
        Command::Deploy(deploy) => deploy.run(&mut session).await,
        Command::Update(update) => update.run(&mut session).await,
        Command::Delete(delete) => delete.run(&mut session).await,
        Command::Wait(wait) => wait.run(&mut session).await,
        command => within(session.timeout, "the request", read(command, &mut session)).await,
    }
}

async fn read(command: Command, session: &mut Session<'_, '_>) -> Result<(), Failure> {
    match command {
        Command::Deploy(_) | Command::Update(_) | Command::Delete(_) | Command::Wait(_) => Ok(()),
        Command::List(list) => list.run(session).await,
        Command::Get(get) => get.run(session).await,
        Command::Status(status) => status.run(session).await,
        Command::Manifest(manifest) => manifest.run(session).await,
        Command::Layout(layout) => layout.run(session).await,
        Command::Expand(expand) => expand.run(session).await,
        Command::Operations(operations) => operations.run(session).await,
        Command::DeployedTypes(types) => types.run(session).await,
        Command::DeployedInstances(instances) => instances.run(session).await,
        Command::Templates(templates) => templates.run(session).await,
        Command::Describe(describe) => describe.run(session).await,
        Command::Registries(registries) => registries.run(session).await,
        Command::Completion(completion) => completion.run(session),
        Command::Version(version) => version.run(session),
    }
}
