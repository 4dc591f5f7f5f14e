//! Runs the command that the user gave.

use crate::cli::{Cli, Command};
use crate::client::context::command::Files;
use crate::client::session::{Session, within};
use crate::error::{ExitCode, Failure};
use crate::terminal::Terminal;

pub async fn run(mut cli: Cli, terminal: &mut Terminal<'_>) -> Result<ExitCode, Failure> {
    if let Some(flag) = cli.command.refused_flag(&cli.before) {
        return Err(Failure::usage(format!(
            "this command does not take {flag}; leave it out"
        )));
    }
    if let Command::Process(process) = &cli.command {
        cli.flags.output = process.output(cli.flags.output)?;
    }
    if let Some(fault) = cli.command.refused_format(cli.flags.output.format) {
        return Err(Failure::usage(fault));
    }
    let files = cli.flags.files();
    let service = match &cli.command {
        Command::Login(_) | Command::Logout(_) => cli.flags.target()?.service,
        _ => String::new(),
    };
    let mut session = Session::new(cli.flags, cli.command.asks_the_manager(), terminal).await?;
    // These commands apply the time limit themselves.
    match cli.command.bounds_itself() {
        true => dispatch(cli.command, (files, service), &mut session).await,
        false => {
            let timeout = session.timeout;
            let work = dispatch(cli.command, (files, service), &mut session);
            within(timeout, "the request", work).await
        }
    }
}

/// The largest futures are boxed: all of them together have to fit on a stack.
async fn dispatch(
    command: Command,
    (files, service): (Files, String),
    session: &mut Session<'_, '_>,
) -> Result<ExitCode, Failure> {
    match command {
        Command::Diff(diff) => return diff.run(session).await,
        Command::WhatIf(whatif) => return whatif.run(session).await,
        Command::Test(test) => return test.run(session).await,
        Command::Lint(lint) => return Box::pin(lint.run(session)).await,
        Command::Upgrade(upgrade) => return upgrade.run(session).await,
        Command::Manifest(manifest) => return manifest.run(session).await,
        Command::Apply(apply) => Box::pin(apply.run(session)).await?,
        Command::Deploy(deploy) => Box::pin(deploy.run(session)).await?,
        Command::Update(update) => Box::pin(update.run(session)).await?,
        Command::Preview(preview) => Box::pin(preview.run(session)).await?,
        Command::Rollback(rollback) => rollback.run(session).await?,
        Command::Delete(delete) => delete.run(session).await?,
        Command::Wait(wait) => wait.run(session).await?,
        Command::Stop(stop) => stop.run(session).await?,
        Command::Cancel(cancel) => cancel.run(session).await?,
        Command::List(list) => list.run(session).await?,
        Command::Get(get) => get.run(session).await?,
        Command::History(history) => history.run(session).await?,
        Command::Status(status) => status.run(session).await?,
        Command::Events(events) => events.run(session).await?,
        Command::Logs(logs) => logs.run(session).await?,
        Command::Layout(layout) => layout.run(session).await?,
        Command::Expand(expand) => expand.run(session).await?,
        Command::Operations(operations) => operations.run(session).await?,
        Command::DeployedTypes(types) => types.run(session).await?,
        Command::DeployedInstances(instances) => instances.run(session).await?,
        Command::Templates(templates) => templates.run(session).await?,
        Command::Process(process) => Box::pin(process.run(session)).await?,
        Command::Export(export) => export.run(session).await?,
        Command::Import(import) => Box::pin(import.run(session)).await?,
        Command::Describe(describe) => describe.run(session).await?,
        Command::Registries(registries) => registries.run(session).await?,
        Command::CreateRegistry(create) => create.run(session).await?,
        Command::DeleteRegistry(delete) => delete.run(session).await?,
        Command::GetCredential(get) => get.run(session).await?,
        Command::SetCredential(set) => set.run(session).await?,
        Command::DeleteCredential(delete) => delete.run(session).await?,
        Command::Admin(admin) => admin.run(session).await?,
        Command::Broker(broker) => Box::pin(broker.run(session, files)).await?,
        Command::Clusters(clusters) => clusters.run(session).await?,
        Command::Init(init) => init.run(session).await?,
        Command::Login(login) => Box::pin(login.run(session, service)).await?,
        Command::Logout(logout) => logout.run(session, &service)?,
        Command::Package(package) => package.run(session)?,
        Command::Publish(publish) => publish.run(session).await?,
        Command::Install(install) => install.run(session).await?,
        Command::Context(context) => context.run(session, files)?,
        Command::Completion(completion) => completion.run(session)?,
        Command::Options(options) => options.run(session)?,
        Command::Ui(ui) => ui.run(session).await?,
        Command::Version(version) => version.run(session)?,
        Command::Whoami(whoami) => whoami.run(session).await?,
    }
    Ok(ExitCode::Done)
}
