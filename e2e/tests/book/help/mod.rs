//! Every example that `--help` prints works: each is a command of a page here, which runs on the real services.
//!
//! The pages have the commands as they are printed. What cannot be reached from a test has a stand-in on loopback.

mod world;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, ensure};

use self::world::{World, in_tests};
use super::examples::{NAMESPACE, check};
use super::markdown::Document;
use super::page::{Example, Examples};
use super::reference::help;

/// Wide enough for every line.
const WIDE: &str = "1000";

/// A page, for each group of commands.
fn page(name: &str) -> Result<(Document, Vec<Example>)> {
    let path = format!("e2e/tests/book/help/{name}.md");
    let page = Document::read(Path::new(&path))?;
    let examples = Examples::read(&page)?.run;
    Ok((page, examples))
}

async fn run(name: &str) -> Result<()> {
    let (page, mut examples) = page(name)?;
    for example in &mut examples {
        if let Example::Command(command) = example {
            command.text = in_tests(&command.text);
            // Most commands are only expected to work.
            if command.output.is_empty() {
                command.output.push_str("...\n");
            }
        }
    }
    let _alone = NAMESPACE.lock().await;
    let world = World::start(&page).await?;
    let faults = check(&world.stack, &page, &examples, world.bash()?).await?;
    ensure!(faults.is_empty(), "{}", faults.join("\n\n"));
    Ok(())
}

macro_rules! pages {
    ($($name:ident)*) => {
        const PAGES: &[&str] = &[$(stringify!($name)),*];

        mod each_example_works {
            $(
                #[tokio::test]
                async fn $name() -> anyhow::Result<()> {
                    super::run(stringify!($name)).await
                }
            )*
        }
    };
}

pages!(deploy look change templates registries services administration);

/// A line without the comment behind it.
fn command(line: &str) -> &str {
    let line = line.trim();
    line.split_once(" #").map_or(line, |(line, _)| line).trim()
}

/// Whether a line of a help text is an example: it has `dm` where a shell expects a command.
fn is_example(line: &str) -> bool {
    let words: Vec<_> = line.split_whitespace().collect();
    let is_indented = line.starts_with("  ") && !line.starts_with("    ");
    let is_dm = |(index, word): (usize, &&str)| {
        let before = index.checked_sub(1).map(|before| words[before]);
        let starts = before.is_none_or(|before| before == "|" || before.contains('='));
        *word == "dm" && starts || *word == "<(dm"
    };
    is_indented && words.iter().enumerate().any(is_dm)
}

/// The examples in the help of every command, each with the command.
fn printed(columns: Option<&str>) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for (name, help) in help::all_in(columns, "dm", &[])? {
        let lines = help.lines().filter(|line| is_example(line));
        found.extend(lines.map(|line| (name.clone(), command(line).to_owned())));
    }
    Ok(found)
}

#[test]
fn every_example_of_the_help_is_run() -> Result<()> {
    let mut run = BTreeSet::new();
    for name in PAGES {
        for example in page(name)?.1 {
            if let Example::Command(found) = example {
                run.insert(command(&found.text).to_owned());
            }
        }
    }
    let printed = printed(Some(WIDE))?;
    ensure!(printed.len() > 200, "only {} examples", printed.len());
    let missing = printed.iter().filter(|(_, example)| !run.contains(example));
    let missing: Vec<_> = missing
        .map(|(name, example)| format!("{name}: {example}"))
        .collect();
    ensure!(missing.is_empty(), "no page runs\n{}", missing.join("\n"));
    Ok(())
}

#[test]
fn no_example_is_too_wide_for_the_help() -> Result<()> {
    let (wide, usual) = (printed(Some(WIDE))?, printed(None)?);
    let wrapped = wide.iter().filter(|example| !usual.contains(example));
    let wrapped: Vec<_> = wrapped.map(|(_, example)| example.as_str()).collect();
    ensure!(wrapped.is_empty(), "{}", wrapped.join("\n"));
    Ok(())
}

#[test]
fn every_page_is_run() -> Result<()> {
    let pages = super::markdown::documents("e2e/tests/book/help")?;
    let names = pages.iter().filter_map(|page| page.path.file_stem());
    let names: BTreeSet<_> = names.map(|name| name.to_string_lossy()).collect();
    assert_eq!(names, PAGES.iter().map(|name| (*name).into()).collect());
    Ok(())
}
