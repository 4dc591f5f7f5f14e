//! `cli.md` and `flags.md`: what the programs print for `--help`.

use std::process::{Command, Stdio};

use anyhow::{Result, ensure};
use e2e::program::path_of;

use super::compare;

/// The sections of flags that every command has.
const GLOBAL: [&str; 2] = ["Global options:", "Identity:"];

pub const SERVICES: [&str; 3] = ["manager", "expandybird", "resourcifier"];

/// The sections of commands: those of `dm` have the names of its groups.
const COMMANDS: [&str; 7] = [
    "Commands:",
    "Deploy:",
    "Look:",
    "Change:",
    "Templates:",
    "Registries:",
    "Administration:",
];

/// The page of the flags that all commands take is a command of its own.
const OPTIONS: &str = "options";

/// What a program prints for `--help`, as wide as clap makes it without a terminal.
fn help(program: &str, command: &[String]) -> Result<String> {
    let output = Command::new(path_of(program)?)
        .args(command)
        .args((command != [OPTIONS]).then_some("--help"))
        .env_clear()
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

/// The lines of the sections of commands in a help text.
fn lines_of_commands(help: &str) -> impl Iterator<Item = &str> {
    let mut is_command = false;
    help.lines().filter_map(move |line| {
        if line.ends_with(':') && !line.starts_with(' ') {
            is_command = COMMANDS.contains(&line);
            return None;
        }
        line.strip_prefix("  ").filter(|_| is_command)
    })
}

/// The names of the commands in a help text.
fn commands(help: &str) -> Vec<String> {
    let names = lines_of_commands(help).filter_map(|line| line.split(' ').next());
    names
        .filter(|name| !name.is_empty() && *name != "help")
        .map(str::to_owned)
        .collect()
}

/// The other names of commands, each with the command.
pub fn aliases(help: &str) -> Vec<(String, String)> {
    let with_aliases = lines_of_commands(help).filter_map(|line| {
        let (command, rest) = line.split_once(' ')?;
        let (_, aliases) = rest.split_once("[aliases: ")?;
        Some((command, aliases.trim_end_matches(']')))
    });
    with_aliases
        .flat_map(|(command, aliases)| {
            let each = aliases.split(", ");
            each.map(|alias| (alias.to_owned(), command.to_owned()))
        })
        .collect()
}

/// A command and all below it, each with its help.
pub fn all(program: &str, command: &[String]) -> Result<Vec<(String, String)>> {
    let own = help(program, command)?;
    let below = commands(&own);
    let name = [&[program.to_owned()], command].concat().join(" ");
    let mut found = vec![(name, own)];
    for next in below {
        found.extend(all(program, &[command, &[next]].concat())?);
    }
    Ok(found)
}

/// A help text without the flags that every command has: the program's own help lists them.
fn without_global_flags(help: &str) -> String {
    let mut is_global = false;
    let is_kept = |line: &&str| {
        if line.ends_with(':') && !line.starts_with(' ') {
            is_global = GLOBAL.contains(line);
        }
        !is_global
    };
    let lines: Vec<_> = help.lines().filter(is_kept).collect();
    lines.join("\n").trim_end().to_owned()
}

fn page(title: &str, introduction: &str, programs: &[&str]) -> Result<String> {
    let mut page = format!("# {title}\n\n{introduction}\n");
    for program in programs {
        for (name, mut help) in all(program, &[])? {
            if name != *program {
                help = without_global_flags(&help);
            }
            page += &format!("\n## {name}\n\n```text\n{help}\n```\n");
        }
    }
    Ok(page)
}

#[test]
fn the_page_of_the_command_line_has_every_command() -> Result<()> {
    let introduction = "What `dm` and each of its commands print for `--help`. \
        The flags that `dm options` prints go with every command.";
    compare("cli.md", &page("dm", introduction, &["dm"])?);
    Ok(())
}

#[test]
fn the_page_of_flags_has_every_flag_of_the_services() -> Result<()> {
    let introduction =
        "What the services print for `--help`. Each flag can be set in the environment too.";
    compare(
        "flags.md",
        &page("Flags of the services", introduction, &SERVICES)?,
    );
    Ok(())
}
