//! `cli.md` and `flags.md`: the help texts of the programs as pages.

mod parse;
mod render;

use std::process::{Command, Stdio};

use anyhow::{Result, ensure};
use e2e::program::path_of;

use self::parse::Help;
use self::render::render;
use super::compare;

pub const SERVICES: [&str; 3] = ["manager", "expandybird", "resourcifier"];

/// What a program prints for `--help`, as wide as clap makes it without a terminal.
fn help(program: &str, command: &[String]) -> Result<String> {
    let output = Command::new(path_of(program)?)
        .args(command)
        .arg("--help")
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

/// The names in the section `Commands` of a help text.
fn commands(help: &str) -> Vec<String> {
    let sections = Help::parse(help).sections.into_iter();
    let commands = sections.filter(|section| section.title == "Commands");
    let names = commands.flat_map(|section| section.entries());
    let names = names.map(|entry| entry.name);
    names.filter(|name| name != "help").collect()
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
        Every command also has the flags in the tables **Global options** and **Identity** below.";
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
