//! `cli.md` and `flags.md`: what the programs print for `--help`.

use std::process::{Command, Stdio};

use anyhow::{Result, ensure};
use e2e::program::path_of;

use super::compare;

/// The sections of flags that every command has.
const GLOBAL: [&str; 2] = ["Global options:", "Identity:"];

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
    let section = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = section
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names
        .filter(|name| !name.is_empty() && *name != "help")
        .map(str::to_owned)
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
        The flags in the sections `Global options` and `Identity` of `dm` go with every command.";
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
