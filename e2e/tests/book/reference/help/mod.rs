//! `cli.md` and `flags.md`: the help texts of the programs as pages.

mod parse;
mod render;

use std::process::{Command, Stdio};

use anyhow::{Result, ensure};
use e2e::program::path_of;

use self::parse::{Entry, Help};
use self::render::render;
use super::compare;

pub const SERVICES: [&str; 3] = ["manager", "expandybird", "resourcifier"];

/// The sections of commands: those of `dm` have the names of its groups.
const COMMANDS: [&str; 8] = [
    "Commands",
    "Deploy",
    "Look",
    "Change",
    "Templates",
    "Registries",
    "Services",
    "Administration",
];

/// The page of the flags that all commands take is a command of its own.
const OPTIONS: &str = "options";

/// What a program prints for `--help`, in so many columns, or as wide as clap makes it without a terminal.
fn help(program: &str, command: &[String], columns: Option<&str>) -> Result<String> {
    let output = Command::new(path_of(program)?)
        .args(command)
        .args((command != [OPTIONS]).then_some("--help"))
        .env_clear()
        .envs(columns.map(|columns| ("COLUMNS", columns)))
        .stdin(Stdio::null())
        .output()?;
    ensure!(
        output.status.success(),
        "{program} {command:?} --help failed"
    );
    let text = String::from_utf8(output.stdout)?;
    let lines: Vec<_> = text.lines().map(str::trim_end).collect();
    Ok(lines.join("\n"))
}

/// The commands in a help text.
fn commands(help: &str) -> impl Iterator<Item = Entry> {
    let sections = Help::parse(help).sections.into_iter();
    let groups = sections.filter(|section| COMMANDS.contains(&section.title.as_str()));
    let commands = groups.flat_map(|section| section.entries());
    commands.filter(|entry| entry.name != "help")
}

/// The other names of commands, each with the command.
pub fn aliases(help: &str) -> Vec<(String, String)> {
    let of_command = |entry: Entry| {
        let name = entry.name;
        entry
            .aliases
            .into_iter()
            .map(move |alias| (alias, name.clone()))
    };
    commands(help).flat_map(of_command).collect()
}

/// A command and all below it, each with its help, in so many columns.
pub fn all_in(
    columns: Option<&str>,
    program: &str,
    command: &[String],
) -> Result<Vec<(String, String)>> {
    let own = help(program, command, columns)?;
    let below: Vec<_> = commands(&own).map(|entry| entry.name).collect();
    let name = [&[program.to_owned()], command].concat().join(" ");
    let mut found = vec![(name, own)];
    for next in below {
        found.extend(all_in(columns, program, &[command, &[next]].concat())?);
    }
    Ok(found)
}

/// A command and all below it, each with its help.
pub fn all(program: &str, command: &[String]) -> Result<Vec<(String, String)>> {
    all_in(None, program, command)
}

fn page(title: &str, introduction: &str, programs: &[&str]) -> Result<String> {
    let mut page = format!("# {title}\n\n{introduction}\n");
    for program in programs {
        let helps = all(program, &[])?.into_iter();
        page.extend(helps.map(|(name, help)| render(&name, &Help::parse(&help))));
    }
    Ok(page)
}

#[test]
fn the_page_of_the_command_line_has_every_command() -> Result<()> {
    let introduction = "The commands of `dm`. `dm deploy --help` prints the same about `dm deploy`. \
        The flags that `dm options` prints go with every command.";
    compare("cli.md", &page("Commands", introduction, &["dm"])?);
    Ok(())
}

#[test]
fn the_page_of_flags_has_every_flag_of_the_services() -> Result<()> {
    let introduction = "The flags of the services. `manager --help` prints the same about the manager. An environment variable can set each flag too.";
    compare(
        "flags.md",
        &page("Flags of the services", introduction, &SERVICES)?,
    );
    Ok(())
}
