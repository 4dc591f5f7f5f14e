//! The grammar of the command line. The arguments of a command stand in the command's file.

pub mod completion;
pub mod dispatch;
mod groups;
pub mod habits;
mod options;
mod version;

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::authoring::{init, lint, package, publish, test};
use crate::client::activity::{events, logs};
use crate::client::broker;
use crate::client::change::preview::diff;
use crate::client::change::running::{stop, wait};
use crate::client::change::*;
use crate::client::inspect::types::{deployed_instances, deployed_types};
use crate::client::inspect::*;
use crate::client::manage::*;
use crate::client::session::flags::Flags;
use crate::client::{context, export, import, login, process};
use crate::error::ExitCode;
use crate::install;
use crate::terminal::format::Format;

/// Deploy configurations and templates to Kubernetes with Deployment Manager.
#[derive(Debug, Parser)]
#[command(name = "dm", version, after_help = EXAMPLES)]
pub struct Cli {
    #[command(flatten)]
    pub flags: Flags,
    #[command(flatten)]
    pub before: BeforeCommand,
    #[command(subcommand)]
    pub command: Command,
    /// The word of the command, as it was found.
    #[arg(skip)]
    word: String,
}

impl Cli {
    /// The program and the command, without arguments.
    pub fn name(&self) -> String {
        format!("dm {}", self.word)
    }
}

/// `dm --registry R --properties P deploy T` means `dm deploy T --registry R --properties P`. Commands that take these flags
/// document them, and receive the value by the same id. Other commands refuse them.
#[derive(Debug, clap::Args)]
pub struct BeforeCommand {
    #[arg(long, global = true, hide = true, id = "registry")]
    pub registry: Option<String>,
    #[arg(long, global = true, hide = true, id = "properties", alias = "set")]
    pub properties: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  dm deploy replicatedservice:v1 --name web --set replicas=3
  dm update web --set replicas=5
  dm preview web.yaml --namespace shop
  dm deploy web.yaml --namespace shop
  dm status web
  dm diff web.yaml
  dm apply web.yaml
  dm history web
  dm rollback web
  dm delete web

Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 conflict, 5 unavailable, 6 timeout.";

#[derive(Debug, Subcommand)]
pub enum Command {
    Apply(apply::Apply),
    Deploy(deploy::Deploy),
    Update(update::Update),
    Preview(preview::Preview),
    Diff(diff::Diff),
    #[command(name = "whatif")]
    WhatIf(upgrade::whatif::WhatIf),
    Upgrade(upgrade::Upgrade),
    Rollback(rollback::Rollback),
    #[command(visible_aliases = ["uninstall", "rm"])]
    Delete(delete::Delete),
    #[command(visible_alias = "ls")]
    List(list::List),
    Get(get::Get),
    History(history::History),
    Status(status::Status),
    Events(events::Events),
    Logs(logs::Logs),
    Manifest(manifest::Manifest),
    Layout(layout::Layout),
    #[command(visible_alias = "template")]
    Expand(expand::Expand),
    Operations(operations::Operations),
    Wait(wait::Wait),
    Stop(stop::Stop),
    Cancel(stop::Cancel),
    DeployedTypes(deployed_types::DeployedTypes),
    DeployedInstances(deployed_instances::DeployedInstances),
    Templates(templates::Templates),
    Process(process::Process),
    Export(export::Export),
    Import(import::Import),
    Describe(describe::Describe),
    Init(init::Init),
    Lint(lint::Lint),
    Test(test::Test),
    Registries(registries::Registries),
    Admin(admin::Admin),
    Broker(broker::command::Broker),
    Clusters(clusters::Clusters),
    #[command(name = "createregistry")]
    CreateRegistry(createregistry::CreateRegistry),
    #[command(name = "deleteregistry")]
    DeleteRegistry(deleteregistry::DeleteRegistry),
    #[command(name = "getcredential")]
    GetCredential(getcredential::GetCredential),
    #[command(name = "setcredential")]
    SetCredential(setcredential::SetCredential),
    #[command(name = "deletecredential")]
    DeleteCredential(deletecredential::DeleteCredential),
    Package(package::command::Package),
    Publish(publish::command::Publish),
    Install(install::command::Install),
    Completion(completion::command::Completion),
    Context(context::command::ContextCommand),
    Login(login::command::Login),
    Logout(login::command::Logout),
    Options(options::Options),
    Ui(ui::Ui),
    Version(version::Version),
    Whoami(whoami::Whoami),
}

/// Reads the command line. Help and usage errors are errors.
pub fn parse(args: &[OsString]) -> Result<Cli, clap::Error> {
    let command = groups::with_groups(Cli::command());
    let matches = command.try_get_matches_from(args);
    let parsed = matches.and_then(|matches| {
        let mut cli = Cli::from_arg_matches(&matches)?;
        cli.word = matches.subcommand_name().unwrap_or_default().to_owned();
        Ok(cli)
    });
    parsed.map_err(without_risky_suggestion)
}

/// Flags that lower a guard. Nobody should get one proposed for a typing error.
const RISKY: [&str; 3] = ["--send-token-in-clear", "--allow-deletes", "--abandon"];

fn without_risky_suggestion(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::String(flag)) = error.get(ContextKind::SuggestedArg)
        && RISKY.contains(&flag.as_str())
    {
        error.remove(ContextKind::SuggestedArg);
        // It has the flag too.
        error.remove(ContextKind::Usage);
    }
    error
}

impl Command {
    /// The exit code of a failure. Commands that compare are like diff(1): 1 means differences.
    pub fn code_of_failure(&self) -> ExitCode {
        match self {
            Self::Diff(_) => ExitCode::Usage,
            Self::Manifest(manifest) if manifest.compares() => ExitCode::Usage,
            _ => ExitCode::Failed,
        }
    }

    /// Whether the command needs a manager.
    pub fn asks_the_manager(&self) -> bool {
        if let Self::Process(process) = self {
            return process.asks_the_manager();
        }
        if let Self::Export(export) = self {
            return export.asks_the_manager();
        }
        !matches!(
            self,
            Self::Expand(expand::Expand { local: true, .. })
                | Self::Broker(_)
                | Self::Completion(_)
                | Self::Context(_)
                | Self::Options(_)
                | Self::Version(_)
                | Self::Init(_)
                | Self::Install(_)
                | Self::Lint(_)
                | Self::Login(_)
                | Self::Logout(_)
                | Self::Package(_)
                | Self::Publish(_)
        )
    }

    /// Whether the command applies `--timeout` itself: to the operation that it starts or follows, or to each of several requests.
    pub fn bounds_itself(&self) -> bool {
        matches!(
            self,
            Self::Apply(_)
                | Self::Deploy(_)
                | Self::Update(_)
                | Self::Preview(_)
                | Self::Test(_)
                | Self::Upgrade(_)
                | Self::Rollback(_)
                | Self::Delete(_)
                | Self::Wait(_)
                | Self::Stop(_)
                | Self::Cancel(_)
                | Self::Templates(_)
                | Self::Import(_)
        )
    }

    /// Why the command does not have the format, if it does not. It is checked before anything is done.
    pub fn refused_format(&self, format: Format) -> Option<&'static str> {
        let has_graph = matches!(self, Self::Status(status) if status.graph);
        let is_process = matches!(self, Self::Process(_));
        match format {
            Format::Dot if !has_graph => {
                Some("-o dot is only for dm status NAME --graph; choose another format")
            }
            Format::Describe if !is_process => {
                Some("-o describe is only for dm process; choose another format")
            }
            _ => None,
        }
    }

    /// The flag before the command that this command does not take, if any.
    pub fn refused_flag(&self, before: &BeforeCommand) -> Option<&'static str> {
        let takes_registry = matches!(
            self,
            Self::Apply(_)
                | Self::Deploy(_)
                | Self::Update(_)
                | Self::Preview(_)
                | Self::Diff(_)
                | Self::Expand(_)
                | Self::Describe(_)
                | Self::Templates(_)
                | Self::Test(_)
                | Self::WhatIf(_)
                | Self::Upgrade(_)
        );
        let takes_properties = takes_registry
            && !matches!(
                self,
                Self::Describe(_)
                    | Self::Templates(_)
                    | Self::Test(_)
                    | Self::WhatIf(_)
                    | Self::Upgrade(_)
            )
            || matches!(self, Self::Install(_) | Self::Broker(_));
        match before {
            BeforeCommand {
                registry: Some(_), ..
            } if !takes_registry => Some("--registry"),
            BeforeCommand { properties, .. } if !properties.is_empty() && !takes_properties => {
                Some("--set")
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_grammar_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_a_description_and_an_example() {
        for command in Cli::command().get_subcommands() {
            assert!(command.get_about().is_some(), "{}", command.get_name());
            let help = command
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(
                help.contains(&format!("dm {}", command.get_name())),
                "{}",
                command.get_name()
            );
        }
    }

    /// The words of the `dm` command in a line of shell, without comment, pipe and redirection.
    fn words(line: &str) -> Option<Vec<String>> {
        let starts = ["  dm ", " dm ", "(dm "];
        let start = starts.iter().find_map(|start| line.find(start))?;
        let words = line[start..]
            .trim_start_matches([' ', '('])
            .split_whitespace();
        let words = words.take_while(|word| !["#", "|", ">", "<"].contains(word));
        // Names in capital letters stand for a value.
        let value = |word: &str| match word.chars().all(|c| c.is_ascii_uppercase()) {
            true => word.to_lowercase(),
            false => word.trim_matches(['\'', ')']).to_owned(),
        };
        Some(words.map(value).collect())
    }

    fn examples(command: &clap::Command, found: &mut Vec<String>) {
        let help = command.get_after_help().map(ToString::to_string);
        let lines = help.iter().flat_map(|help| help.lines());
        found.extend(
            lines
                .filter(|line| line.starts_with("  "))
                .map(str::to_owned),
        );
        for below in command.get_subcommands() {
            examples(below, found);
        }
    }

    #[test]
    fn every_example_of_the_help_is_a_command_that_dm_accepts() {
        let mut lines = Vec::new();
        examples(&Cli::command(), &mut lines);
        let commands: Vec<_> = lines.iter().filter_map(|line| words(line)).collect();
        assert!(commands.len() > 60, "only {} examples", commands.len());
        for command in commands {
            let parsed = Cli::try_parse_from(&command);
            assert!(parsed.is_ok(), "{command:?}: {}", parsed.err().unwrap());
        }
    }

    #[test]
    fn a_typing_error_never_proposes_a_flag_that_lowers_a_guard() {
        for flag in [
            "--sen",
            "--send",
            "--send-tokens-in-clear",
            "--allow-delete",
        ] {
            let args = ["dm", "update", "web", flag].map(OsString::from);
            let error = parse(&args).unwrap_err().render().to_string();
            assert!(RISKY.iter().all(|risky| !error.contains(risky)), "{error}");
        }
    }

    #[test]
    fn flags_are_taken_before_and_after_the_command() {
        for args in [
            [
                "dm",
                "--registry",
                "o/r",
                "--properties",
                "a=1",
                "--timeout",
                "5m",
                "deploy",
                "t:v1",
            ],
            [
                "dm",
                "deploy",
                "t:v1",
                "--registry",
                "o/r",
                "--properties",
                "a=1",
                "--timeout",
                "5m",
            ],
        ] {
            let cli = Cli::try_parse_from(args).unwrap();
            let Command::Deploy(deploy) = cli.command else {
                panic!("not a deploy")
            };
            assert_eq!(deploy.target.registry.as_deref(), Some("o/r"));
            assert_eq!(deploy.target.properties.properties, ["a=1"]);
            assert_eq!(cli.flags.timeout, Some(Duration::from_secs(300)));
        }
    }

    #[test]
    fn a_flag_that_a_command_does_not_take_is_refused() {
        let cli = Cli::try_parse_from(["dm", "--properties", "a=1", "list"]).unwrap();
        assert_eq!(cli.command.refused_flag(&cli.before), Some("--set"));
        let install = ["dm", "install", "--image", "dm:1", "--set", "a=1"];
        let cli = Cli::try_parse_from(install).unwrap();
        assert_eq!(cli.command.refused_flag(&cli.before), None);
        let cli = Cli::try_parse_from(["dm", "describe", "t:v1", "--registry", "o/r"]).unwrap();
        assert_eq!(cli.command.refused_flag(&cli.before), None);
    }
}
