//! A help text as a part of a page: paragraphs, tables of arguments and flags, examples.

use super::super::super::markdown::anchor;
use super::super::cell;
use super::COMMANDS;
use super::parse::{Entry, Help, Section};

/// The sections of flags that every command has. `dm options` lists them.
const GLOBAL: [&str; 2] = ["Global options", "Identity"];

/// The paragraph that each command of `dm` ends with. The page says it once, at its start.
const FOOTER: &str = "dm options lists the flags of all commands.";

/// The help of a command, below a heading with its name.
pub fn render(name: &str, help: &Help) -> String {
    let mut page = format!("\n## {name}\n");
    for paragraph in &help.introduction {
        page += &format!("\n{}\n", sentence(paragraph));
    }
    if !help.usage.is_empty() {
        page += &format!("\n```text\n{}\n```\n", help.usage);
    }
    let is_program = !name.contains(' ');
    let is_shown = |section: &&Section| is_program || !GLOBAL.contains(&section.title.as_str());
    for section in help.sections.iter().filter(is_shown) {
        page += &part(name, section);
    }
    for paragraph in help.closing.iter().filter(|text| *text != FOOTER) {
        page += &format!("\n{}\n", sentence(paragraph));
    }
    page
}

fn part(name: &str, section: &Section) -> String {
    let title = format!("\n**{}**\n\n", section.title);
    let entries = section.entries();
    match section.title.as_str() {
        "Examples" => format!("{title}```text\n{}\n```\n", section.text()),
        group if COMMANDS.contains(&group) => {
            let lines = entries.iter().filter(|entry| entry.name != "help");
            lines.fold(title, |text, entry| text + &command(name, entry))
        }
        _ => {
            let is_own = |entry: &&Entry| name == "dm" || !entry.name.ends_with("--help");
            let rows: String = entries.iter().filter(is_own).map(row).collect();
            match rows.is_empty() {
                true => String::new(),
                false => format!("{title}| | |\n|---|---|\n{rows}"),
            }
        }
    }
}

fn command(name: &str, entry: &Entry) -> String {
    let full = format!("{name} {}", entry.name);
    let target = anchor(&full);
    let aliases = others(&entry.aliases).unwrap_or_default();
    format!(
        "- [`{full}`](#{target}): {} {aliases}",
        sentence(&entry.text)
    )
    .trim_end()
    .to_owned()
        + "\n"
}

fn row(entry: &Entry) -> String {
    let names = entry.name.split(", ").map(|name| format!("`{name}`"));
    let names = names.collect::<Vec<_>>().join(", ").replace('|', "\\|");
    let mut parts = vec![sentence(&entry.text)];
    parts.extend(values(&entry.values));
    parts.extend(others(&entry.aliases));
    parts.extend((entry.default.as_deref()).map(|value| format!("Default: {}.", with_code(value))));
    parts.extend((entry.variable.as_ref()).map(|name| format!("Environment: `{name}`.")));
    format!("| {names} | {} |\n", cell(&parts.join(" ")))
}

fn values(values: &[String]) -> Option<String> {
    let one = |value: &String| match value.split_once(':') {
        Some((name, text)) => format!("`{name}` ({})", text.trim()),
        None => format!("`{value}`"),
    };
    let all: Vec<_> = values.iter().map(one).collect();
    (!all.is_empty()).then(|| format!("Values: {}.", all.join(", ")))
}

/// The other names of a command or a flag.
fn others(aliases: &[String]) -> Option<String> {
    let names: Vec<_> = aliases.iter().map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| format!("Also: {}.", names.join(", ")))
}

/// A text with a full stop, and with flags as code.
fn sentence(text: &str) -> String {
    let end = match text.is_empty() || text.ends_with(['.', ':']) {
        true => "",
        false => ".",
    };
    with_code(text) + end
}

/// A text with flags as code.
fn with_code(text: &str) -> String {
    let is_mark = |c: char| ",.;:)".contains(c);
    let code = |word: &str| match word.starts_with("--") && word.len() > 2 {
        true => {
            let flag = word.trim_end_matches(is_mark);
            format!("`{flag}`{}", &word[flag.len()..])
        }
        false => word.to_owned(),
    };
    // Every second part is code already.
    let parts = text
        .split('`')
        .enumerate()
        .map(|(index, part)| match index % 2 {
            0 => part.split(' ').map(code).collect::<Vec<_>>().join(" "),
            _ => part.to_owned(),
        });
    parts.collect::<Vec<_>>().join("`")
}
